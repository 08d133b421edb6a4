/// Decodes `Decodable` types from a parsed `JSON` value, without going through text again.
///
/// A `JSON` or `JSONObject` inside a decoded type keeps its value unchanged.
public enum JSONValueDecoder {
  /// Returns the value of type `T` that `json` describes.
  ///
  /// - Throws: `DecodingError`.
  public static func decode<T: Decodable>(_ type: T.Type = T.self, from json: JSON) throws -> T {
    try ValueDecoder(json: json).decode(type)
  }
}

struct IndexKey: CodingKey {
  let stringValue: String
  let intValue: Int?
  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }
  init(intValue: Int) {
    stringValue = String(intValue)
    self.intValue = intValue
  }
}

struct ValueDecoder: Decoder {
  let json: JSON
  /// The path of the value that contains this one.
  var outerPath: [any CodingKey] = []
  /// The key of this value in the one that contains it; `nil` for the outermost.
  var key: (any CodingKey)?
  /// The path of this value. Computed on demand, because most values are decoded without it.
  var codingPath: [any CodingKey] { key.map { outerPath + [$0] } ?? outerPath }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func mismatch(_ type: Any.Type) -> DecodingError {
    .typeMismatch(
      type, .init(codingPath: codingPath, debugDescription: "a \(json.typeName) can't be a \(type)"))
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard let object = json.objectValue else { throw mismatch([String: JSON].self) }
    return KeyedDecodingContainer(ObjectContainer(object: object, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let array = json.arrayValue else { throw mismatch([JSON].self) }
    return ArrayContainer(array: array, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension ValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { json.isNull }

  func decode(_ type: Bool.Type) throws -> Bool {
    guard let value = json.boolValue else { throw mismatch(type) }
    return value
  }

  func decode(_ type: String.Type) throws -> String {
    guard let value = json.stringValue else { throw mismatch(type) }
    return value
  }

  func decode(_ type: Double.Type) throws -> Double {
    guard let value = json.doubleValue else { throw mismatch(type) }
    return value
  }

  func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
  func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try T(from: self) }

  private func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
    if case .number(let number) = json, let exact = T(number.text) { return exact }
    guard let integer = json.intValue, let value = T(exactly: integer) else { throw mismatch(type) }
    return value
  }
}

private struct ObjectContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let object: JSONObject
  let codingPath: [any CodingKey]

  var allKeys: [Key] { object.keys.compactMap(Key.init(stringValue:)) }
  func contains(_ key: Key) -> Bool { object[key.stringValue] != nil }
  func decodeNil(forKey key: Key) throws -> Bool { object[key.stringValue]?.isNull ?? true }

  private func inner(_ key: Key) throws -> ValueDecoder {
    guard let value = object[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "\(key.stringValue) is missing"))
    }
    return ValueDecoder(json: value, outerPath: codingPath, key: key)
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try inner(key).decode(type) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try inner(key).decode(type) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try inner(key).decode(type) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try inner(key).decode(type) }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try inner(key).decode(type) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try inner(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try inner(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { ValueDecoder(json: .object(object), outerPath: codingPath) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try inner(key) }
}

private struct ArrayContainer: UnkeyedDecodingContainer {
  let array: [JSON]
  let codingPath: [any CodingKey]
  private(set) var currentIndex = 0

  var count: Int? { array.count }
  var isAtEnd: Bool { currentIndex >= array.count }

  private mutating func inner() throws -> ValueDecoder {
    let key = IndexKey(intValue: currentIndex)
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        JSON.self, .init(codingPath: codingPath + [key], debugDescription: "the array ends"))
    }
    defer { currentIndex += 1 }
    return ValueDecoder(json: array[currentIndex], outerPath: codingPath, key: key)
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, array[currentIndex].isNull else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try inner().decode(type) }
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> { try inner().container(keyedBy: type) }
  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try inner().unkeyedContainer()
  }
  mutating func superDecoder() throws -> any Decoder { try inner() }
}
