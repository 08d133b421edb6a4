/// The members of a JSON object in the order of the text. Names are unique and compare as UTF-8 bytes.
public struct JSONObject: Sendable {
  /// A member of an object: its name and value.
  public struct Member: Sendable {
    /// The member's name.
    public let key: String
    /// The member's value.
    public var value: JSON
  }

  /// The members in order.
  public private(set) var members: [Member]
  /// The members' positions by name; `nil` for a small object, in which a linear search is faster.
  private var positions: [UTF8Key: Int]?

  /// The largest number of members for which the search is linear.
  private static let smallCount = 16

  /// Makes an object without members.
  public init() { members = [] }

  /// Makes an object without members, with memory for `count` members.
  init(reserving count: Int) {
    members = []
    members.reserveCapacity(count)
  }

  /// Makes an object with these members in order. A later one of the same name replaces the earlier value.
  public init(_ pairs: [(String, JSON)]) {
    members = []
    members.reserveCapacity(pairs.count)
    for (key, value) in pairs { self[key] = value }
  }

  /// The number of members.
  public var count: Int { members.count }
  /// Whether the object has no members.
  public var isEmpty: Bool { members.isEmpty }
  /// The names in order.
  public var keys: [String] { members.map(\.key) }

  /// The value of the member `key`. Setting `nil` removes the member; setting a new name appends it.
  public subscript(key: String) -> JSON? {
    get { position(of: key).map { members[$0].value } }
    set {
      switch (position(of: key), newValue) {
      case (let position?, let value?): members[position].value = value
      case (let position?, nil):
        members.remove(at: position)
        index()
      case (nil, let value?): append(new: key, value)
      case (nil, nil): break
      }
    }
  }

  private func position(of key: String) -> Int? {
    if let positions { return positions[UTF8Key(key)] }
    // Not `firstIndex`, which may copy each member's value along with its name.
    for position in members.indices where members[position].key.hasSameBytes(as: key) { return position }
    return nil
  }

  /// Whether there is a member of this name.
  func contains(_ key: String) -> Bool { position(of: key) != nil }

  /// Appends a member. Its name must be new.
  mutating func append(new key: String, _ value: JSON) {
    members.append(Member(key: key, value: value))
    if positions != nil {
      positions?[UTF8Key(key)] = members.count - 1
    } else if members.count > Self.smallCount {
      index()
    }
  }

  private mutating func index() {
    positions = nil
    guard members.count > Self.smallCount else { return }
    var positions = [UTF8Key: Int](minimumCapacity: members.count)
    for (position, member) in members.enumerated() { positions[UTF8Key(member.key)] = position }
    self.positions = positions
  }

  /// Returns this object with a JSON merge patch (RFC 7396) applied: `null` removes a member, objects merge, other
  /// values replace.
  public func merged(with patch: JSONObject) -> JSONObject {
    var result = JSONObject()
    for member in members {
      let value = patch[member.key].map { Self.merged(member.value, with: $0) } ?? member.value
      if let value { result.append(new: member.key, value) }
    }
    for change in patch.members where !contains(change.key) {
      if let value = Self.merged(nil, with: change.value) { result.append(new: change.key, value) }
    }
    return result
  }

  private static func merged(_ value: JSON?, with change: JSON) -> JSON? {
    switch change {
    case .null: nil
    case .object(let patch): .object((value?.objectValue ?? JSONObject()).merged(with: patch))
    default: change
    }
  }
}

extension JSONObject: Hashable {
  /// Returns whether both objects have the same names with the same values, in any order.
  public static func == (one: JSONObject, other: JSONObject) -> Bool {
    guard one.count == other.count else { return false }
    // Copies of one object share their members.
    let areCopies = one.members.withUnsafeBufferPointer { members in
      other.members.withUnsafeBufferPointer { members.baseAddress == $0.baseAddress }
    }
    return areCopies || one.members.allSatisfy { other[$0.key] == $0.value }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(Set(members.map { UTF8Key($0.key) }))
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, JSON)...) { self.init(elements.map { ($0.0, $0.1) }) }
}
