import Cryptography
import FoundationEssentials
import JSONRPC
import SDKProtocol

/// Sealed values of a database: AES-GCM. Their additional data says which column they are of, and whose.
enum Seal {
  /// The number of bytes by which a sealed value is longer than the plain one.
  static let overhead = AESGCM.overhead

  static func seal(_ plain: Data, under key: SymmetricKey, _ context: AdditionalData) throws(SealError) -> Data {
    guard let sealed = AESGCM.seal(plain, under: key, authenticating: context.bytes) else {
      throw SealError(what: "sealing")
    }
    return sealed
  }

  static func open(
    _ sealed: Data, under key: SymmetricKey, _ context: AdditionalData, what: String
  ) throws(SealError) -> Data {
    guard let plain = AESGCM.open(sealed, under: key, authenticating: context.bytes) else {
      throw SealError(what: what)
    }
    return plain
  }

  /// Seals numbers of 64 bits.
  static func seal(
    _ numbers: [UInt64], under key: SymmetricKey, _ context: AdditionalData
  ) throws(SealError) -> Data {
    try seal(Data(numbers.flatMap { $0.bigEndianBytes }), under: key, context)
  }

  /// Opens sealed numbers, of which there must be `count`.
  static func openNumbers(
    _ sealed: Data, count: Int, under key: SymmetricKey, _ context: AdditionalData, what: String
  ) throws(SealError) -> [UInt64] {
    let plain = try open(sealed, under: key, context, what: what)
    guard plain.count == 8 * count else { throw SealError(what: what) }
    return (0..<count).map { UInt64(bigEndianBytes: plain.dropFirst(8 * $0).prefix(8)) }
  }
}

extension UInt64 {
  /// Creates the number of at most eight bytes, the most significant one first.
  init(bigEndianBytes bytes: some Sequence<UInt8>) { self = bytes.reduce(0) { $0 << 8 | UInt64($1) } }

  /// The eight bytes of the number, the most significant one first.
  var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}

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

/// The text form in which JSON is sealed.
enum StoredJSON {
  /// Returns the text of a value. Throws `storeUnavailable` if the value nests too deep to be read back.
  static func data(of json: JSON) throws(SDKError) -> Data {
    guard fits(json, depth: JSONParser.maximumDepth) else {
      throw .storeUnavailable("A value nests deeper than \(JSONParser.maximumDepth) and can't be stored; flatten it.")
    }
    return Data(JSONWriter.bytes(of: json))
  }

  /// Returns the value of a text that `data(of:)` made.
  ///
  /// Combining marks have no limit: earlier releases stored longer runs of them than a message may contain now.
  static func json(of data: Data) -> JSON? { try? JSONParser.parse(data, .ownText) }

  private static func fits(_ json: JSON, depth: Int) -> Bool {
    switch json {
    case .array(let elements): depth > 0 && elements.allSatisfy { fits($0, depth: depth - 1) }
    case .object(let object): depth > 0 && object.members.allSatisfy { fits($0.value, depth: depth - 1) }
    default: true
    }
  }
}
