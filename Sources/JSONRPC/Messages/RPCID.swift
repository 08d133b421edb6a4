/// A request's id, echoed exactly as it was written. Ids are equal if they have the same bytes.
public enum RPCID: Sendable {
  case string(String)
  case number(JSONNumber)
  case null

  /// The most bytes that an id may have.
  public static let maximumBytes = 256

  /// The id that a JSON value is; `nil` for booleans, arrays and objects, which can't be one.
  public init?(_ json: JSON) {
    switch json {
    case .string(let string): self = .string(string)
    case .number(let number): self = .number(number)
    case .null: self = .null
    default: return nil
    }
  }

  /// The id as it goes on the wire.
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

  /// The size of its text.
  var byteCount: Int {
    switch self {
    case .string(let string): string.utf8.count
    case .number(let number): number.text.utf8.count
    case .null: 4
    }
  }
}
