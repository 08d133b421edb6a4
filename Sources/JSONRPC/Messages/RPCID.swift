/// A request's id, echoed exactly as it was written. Ids are equal if they have the same JSON type and bytes.
public enum RPCID: Sendable {
  case string(String)
  case number(JSONNumber)
  case null

  /// The largest size of an id, in bytes.
  public static let maximumBytes = 256

  /// Makes an id from a JSON value. Returns `nil` for booleans, arrays and objects, which can't be ids.
  public init?(_ json: JSON) {
    switch json {
    case .string(let string): self = .string(string)
    case .number(let number): self = .number(number)
    case .null: self = .null
    default: return nil
    }
  }

  /// The id as a JSON value, as sent in messages.
  public var json: JSON {
    switch self {
    case .string(let string): .string(string)
    case .number(let number): .number(number)
    case .null: .null
    }
  }
}

extension RPCID: Hashable {
  public static func == (one: RPCID, other: RPCID) -> Bool {
    switch (one, other) {
    case (.string(let one), .string(let other)): one.hasSameBytes(as: other)
    case (.number(let one), .number(let other)): one == other
    case (.null, .null): true
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .string(let string): hasher.combine(UTF8Key(string))
    case .number(let number): hasher.combine(number)
    case .null: hasher.combine(0 as UInt8)
    }
  }

  /// The size of the id's text in bytes, without quotes.
  var byteCount: Int {
    switch self {
    case .string(let string): string.utf8.count
    case .number(let number): number.text.utf8.count
    case .null: 4
    }
  }
}
