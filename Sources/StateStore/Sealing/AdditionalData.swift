import SDKProtocol

/// The additional authenticated data of a sealed value. The value opens only with exactly the same data.
///
/// Every field is preceded by its length, so that different lists of fields never give the same bytes.
struct AdditionalData {
  /// The version of the format in which rows are sealed.
  static let version: UInt64 = 1

  private(set) var bytes: [UInt8] = []

  /// Creates the data of a column of a table.
  init(_ column: String) {
    bytes.reserveCapacity(160)
    append(Self.version)
    append(column)
  }

  /// Creates the data of a column of an instance's row.
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
