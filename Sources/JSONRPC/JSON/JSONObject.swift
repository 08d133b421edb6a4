/// The members of a JSON object in the order of the text; no name stands twice.
public struct JSONObject: Sendable {
  /// One member: its name and value.
  public struct Member: Sendable {
    /// The member's name.
    public let key: String
    /// The member's value.
    public var value: JSON
  }

  /// The members in order.
  public private(set) var members: [Member]

  /// An object without members.
  public init() { members = [] }

  /// Members in this order; a later one of the same name replaces the earlier.
  public init(_ pairs: [(String, JSON)]) {
    members = []
    members.reserveCapacity(pairs.count)
    for (key, value) in pairs { self[key] = value }
  }

  /// For the parser, which has checked that no name stands twice.
  init(unique members: [Member]) { self.members = members }

  /// The number of members.
  public var count: Int { members.count }
  /// True without members.
  public var isEmpty: Bool { members.isEmpty }
  /// The names in order.
  public var keys: [String] { members.map(\.key) }

  /// The value of a member. Setting `nil` removes it; setting a new one puts it last.
  public subscript(key: String) -> JSON? {
    get { members.first { $0.key == key }?.value }
    set {
      if let index = members.firstIndex(where: { $0.key == key }) {
        if let newValue { members[index].value = newValue } else { members.remove(at: index) }
      } else if let newValue {
        members.append(Member(key: key, value: newValue))
      }
    }
  }

  /// This object changed by a JSON merge patch (RFC 7396): `null` removes, objects merge, all else replaces.
  public func merged(with patch: JSONObject) -> JSONObject {
    var result = self
    for member in patch.members {
      switch member.value {
      case .null: result[member.key] = nil
      case .object(let inner):
        result[member.key] = .object((result[member.key]?.objectValue ?? JSONObject()).merged(with: inner))
      default: result[member.key] = member.value
      }
    }
    return result
  }
}

extension JSONObject: Hashable {
  /// Equal when the same names have the same values, in whatever order.
  public static func == (one: JSONObject, other: JSONObject) -> Bool {
    guard one.count == other.count else { return false }
    return one.members.allSatisfy { other[$0.key] == $0.value }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(Set(members.map(\.key)))
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, JSON)...) { self.init(elements.map { ($0.0, $0.1) }) }
}
