internal import Glibc

/// The members of a message, read from its text without making an object of them first.
struct MessageMembers {
  /// The names of the members that a message can have.
  enum Name: String, CaseIterable {
    case jsonrpc, id, method, params, result, error

    /// The name that begins with a byte, with its text in quotes. No two names begin with the same byte.
    static func beginning(with byte: UInt8) -> (name: Name, text: StaticString)? {
      switch byte {
      case UInt8(ascii: "j"): (.jsonrpc, "\"jsonrpc\"")
      case UInt8(ascii: "i"): (.id, "\"id\"")
      case UInt8(ascii: "m"): (.method, "\"method\"")
      case UInt8(ascii: "p"): (.params, "\"params\"")
      case UInt8(ascii: "r"): (.result, "\"result\"")
      case UInt8(ascii: "e"): (.error, "\"error\"")
      default: nil
      }
    }

    /// Creates the name with the same bytes as a text; `nil` if there is none.
    init?(_ text: String) {
      guard let name = Self.allCases.first(where: { $0.rawValue.hasSameBytes(as: text) }) else { return nil }
      self = name
    }
  }

  /// The values of the known members but `jsonrpc`.
  private(set) var id, method, params, result, error: JSON?
  /// Whether the member `jsonrpc` is the string `2.0`; `nil` if it was not set.
  private var hasVersion2: Bool?
  /// The members that aren't part of any message.
  private var others = JSONObject()

  /// Makes a message without members.
  init() {}

  init(_ object: JSONObject) {
    for member in object.members { set(member.key, to: member.value) }
  }

  /// The name of the first member that isn't part of any message; `nil` without one.
  var unknown: String? { others.members.first?.key }

  /// Whether the member `jsonrpc` is the string `2.0`.
  var isVersion2: Bool { hasVersion2 == true }

  /// Whether a member was set.
  func contains(_ name: Name) -> Bool {
    switch name {
    case .id: id != nil
    case .error: error != nil
    case .jsonrpc: hasVersion2 != nil
    case .method: method != nil
    case .params: params != nil
    case .result: result != nil
    }
  }

  /// Whether a member that isn't part of any message was set.
  func contains(_ name: String) -> Bool { others.contains(name) }

  /// Sets a member.
  mutating func set(_ name: Name, to value: JSON) {
    switch name {
    case .id: id = value
    case .error: error = value
    case .jsonrpc: hasVersion2 = value.stringValue?.hasSameBytes(as: "2.0") ?? false
    case .method: method = value
    case .params: params = value
    case .result: result = value
    }
  }

  /// Sets the member `jsonrpc` to the string `2.0`.
  mutating func setVersion2() { hasVersion2 = true }

  /// Sets a member that was not set before.
  mutating func set(_ name: String, to value: JSON) {
    if let known = Name(name) {
      set(known, to: value)
    } else {
      others.append(new: name, value)
    }
  }
}

extension JSONParser {
  /// Parses a message or a batch: reads the members of an object, and returns any other value.
  static func parseMessage(
    _ bytes: ArraySlice<UInt8>, into members: inout MessageMembers
  ) throws(JSONSyntaxError) -> JSON? {
    try parse(bytes, .strict) { parser throws(JSONSyntaxError) in try parser.message(into: &members) }
  }

  private mutating func message(into members: inout MessageMembers) throws(JSONSyntaxError) -> JSON? {
    skipSpace()
    guard next == UInt8(ascii: "{") else { return try value() }
    depth = 1
    position += 1
    try read(&members)
    depth = 0
    return nil
  }

  private mutating func read(_ members: inout MessageMembers) throws(JSONSyntaxError) {
    skipSpace()
    if next == UInt8(ascii: "}") {
      position += 1
      return
    }
    while true {
      skipSpace()
      if let name = knownName() {
        if members.contains(name) { throw occursTwice(name.rawValue) }
        try colon()
        if name == .jsonrpc, takeVersion2() { members.setVersion2() } else { members.set(name, to: try value()) }
      } else {
        guard next == UInt8(ascii: "\"") else { throw error("a member's name is expected") }
        let key = try string()
        // A known name may be written with escapes.
        let isKnown = MessageMembers.Name(key).map { members.contains($0) } ?? members.contains(key)
        if isKnown { throw occursTwice(key) }
        try colon()
        members.set(key, to: try value())
      }
      skipSpace()
      switch next {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "}"):
        position += 1
        return
      default: throw error("a comma or } is expected")
      }
    }
  }

  /// Reads the string `2.0`, if it is next and written without escapes. Otherwise nothing is read.
  private mutating func takeVersion2() -> Bool {
    skipSpace()
    return take("\"2.0\"")
  }

  /// Moves past these bytes, if they are next.
  private mutating func take(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard count <= bytes.count - position, let start = bytes.baseAddress,
      memcmp(start + position, text.utf8Start, count) == 0
    else { return false }
    position += count
    return true
  }

  /// Reads the name of a member that messages have, if it is written without escapes. Otherwise nothing is read.
  private mutating func knownName() -> MessageMembers.Name? {
    guard position + 1 < bytes.count, let known = MessageMembers.Name.beginning(with: bytes[position + 1]),
      take(known.text)
    else { return nil }
    return known.name
  }
}
