/// Encodes `Encodable` types into a `JSON` value. A `JSON` or `JSONObject` inside keeps its value unchanged.
public enum JSONValueEncoder {
  /// Returns the JSON value that describes `value`.
  ///
  /// - Throws: what the type's own `encode(to:)` throws.
  public static func encode(_ value: some Encodable) throws -> JSON { try box(value) }

  static func box(_ value: some Encodable) throws -> JSON {
    if let json = value as? JSON { return json }
    if let object = value as? JSONObject { return .object(object) }
    let node = EncodingNode()
    try value.encode(to: ValueEncoder(node: node, codingPath: []))
    return node.json
  }
}

/// A node of the value under construction.
private final class EncodingNode {
  enum Content {
    case empty
    case value(JSON)
    case object([(String, EncodingNode)])
    case array([EncodingNode])
  }
  var content = Content.empty

  var json: JSON {
    switch content {
    case .empty: .null
    case .value(let json): json
    case .object(let members): .object(JSONObject(members.map { ($0.0, $0.1.json) }))
    case .array(let nodes): .array(nodes.map(\.json))
    }
  }

  func member(_ key: String) -> EncodingNode {
    let node = EncodingNode()
    var members: [(String, EncodingNode)] = if case .object(let members) = content { members } else { [] }
    // Drops the second reference to the array, so that it grows without being copied.
    content = .empty
    members.append((key, node))
    content = .object(members)
    return node
  }

  func element() -> EncodingNode {
    let node = EncodingNode()
    var nodes = if case .array(let nodes) = content { nodes } else { [EncodingNode]() }
    content = .empty
    nodes.append(node)
    content = .array(nodes)
    return node
  }
}

private struct ValueEncoder: Encoder {
  let node: EncodingNode
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .object = node.content {} else { node.content = .object([]) }
    return KeyedEncodingContainer(ObjectEncoding(node: node, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .array = node.content {} else { node.content = .array([]) }
    return ArrayEncoding(node: node, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension ValueEncoder: SingleValueEncodingContainer {
  func encodeNil() { node.content = .value(.null) }
  func encode(_ value: Bool) { node.content = .value(.bool(value)) }
  func encode(_ value: String) { node.content = .value(.string(value)) }
  func encode(_ value: Double) { node.content = .value(JSON(value)) }
  func encode(_ value: Float) { node.content = .value(JSON(Double(value))) }
  func encode(_ value: Int) { node.content = .value(JSON(value)) }
  func encode(_ value: Int8) { integer(value) }
  func encode(_ value: Int16) { integer(value) }
  func encode(_ value: Int32) { integer(value) }
  func encode(_ value: Int64) { integer(value) }
  func encode(_ value: UInt) { integer(value) }
  func encode(_ value: UInt8) { integer(value) }
  func encode(_ value: UInt16) { integer(value) }
  func encode(_ value: UInt32) { integer(value) }
  func encode(_ value: UInt64) { integer(value) }
  func encode(_ value: some Encodable) throws { node.content = .value(try JSONValueEncoder.box(value)) }

  private func integer(_ value: some FixedWidthInteger) {
    node.content = .value(.number(JSONNumber(checked: String(value))))
  }
}

private struct ObjectEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: EncodingNode
  let codingPath: [any CodingKey]

  private func inner(_ key: Key) -> ValueEncoder {
    ValueEncoder(node: node.member(key.stringValue), codingPath: codingPath + [key])
  }

  mutating func encodeNil(forKey key: Key) { inner(key).encodeNil() }
  mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try inner(key).encode(value) }
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy keyType: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { inner(key).container(keyedBy: keyType) }
  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    inner(key).unkeyedContainer()
  }
  mutating func superEncoder() -> any Encoder { ValueEncoder(node: node, codingPath: codingPath) }
  mutating func superEncoder(forKey key: Key) -> any Encoder { inner(key) }
}

private struct ArrayEncoding: UnkeyedEncodingContainer {
  let node: EncodingNode
  let codingPath: [any CodingKey]

  var count: Int { if case .array(let nodes) = node.content { nodes.count } else { 0 } }

  private func inner() -> ValueEncoder {
    ValueEncoder(node: node.element(), codingPath: codingPath + [IndexKey(intValue: count)])
  }

  mutating func encodeNil() { inner().encodeNil() }
  mutating func encode<T: Encodable>(_ value: T) throws { try inner().encode(value) }
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy keyType: Nested.Type
  ) -> KeyedEncodingContainer<Nested> { inner().container(keyedBy: keyType) }
  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { inner().unkeyedContainer() }
  mutating func superEncoder() -> any Encoder { inner() }
}
