import SDKProtocol

/// What a sealed value belongs to; the value opens with exactly the same and nothing else.
///
/// Every field is preceded by its length, so that no two lists of fields give the same bytes.
struct AdditionalData {
  /// The version of how rows are sealed.
  static let version: UInt64 = 1

  private(set) var bytes: [UInt8] = []

  /// A column of a table.
  init(_ column: String) {
    bytes.reserveCapacity(160)
    append(Self.version)
    append(column)
  }

  /// A column of an instance's row.
  init(_ column: String, of instance: InstanceUUID) {
    self.init(column)
    append(instance.description)
  }

  mutating func append(_ text: String) { append(field: text.utf8) }

  mutating func append(_ number: UInt64) {
    withUnsafeBytes(of: number.bigEndian) { append(field: $0) }
  }

  mutating func append(_ time: Timestamp) { append(time.secondsSince1970.bitPattern) }

  mutating func append(field: some Collection<UInt8>) {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: field.count).bigEndian) { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: field)
  }
}
