import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a sealed value belongs to; the value opens with exactly the same and nothing else.
///
/// Every field is preceded by its length, so that no two lists of fields give the same bytes.
struct AdditionalData {
  /// The version of how rows are sealed.
  static let version: UInt64 = 1

  private(set) var bytes = Data()

  /// A column of a table.
  init(_ column: String) {
    append(Self.version)
    append(column)
  }

  /// A column of an instance's row.
  init(_ column: String, of instance: InstanceUUID) {
    self.init(column)
    append(instance.description)
  }

  mutating func append(_ text: String) { append(field: Data(text.utf8)) }

  mutating func append(_ number: UInt64) {
    append(field: Data((0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }))
  }

  mutating func append(_ time: Timestamp) { append(time.secondsSince1970.bitPattern) }

  mutating func append(field: Data) {
    let count = UInt32(truncatingIfNeeded: field.count)
    bytes.append(contentsOf: (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * UInt32($0))) })
    bytes.append(field)
  }
}
