/// A request's id, echoed exactly as it was written.
public enum RPCID: Sendable, Hashable {
  case string(String)
  case number(JSONNumber)
  case null

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
