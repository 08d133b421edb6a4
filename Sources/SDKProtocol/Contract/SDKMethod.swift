public import JSONRPC

/// A method of the daemon's contract: JSON-RPC's and who may call it, in which order.
public protocol SDKMethod: RPCMethod {
  /// What it takes to call it.
  static var access: MethodAccess { get }
  /// How it stands among other calls.
  static var ordering: MethodOrdering { get }
  /// The kind whose instances have it; `nil` for all.
  static var kind: KindName? { get }
  /// The verbs of `sdkctl` that call it, for methods of a kind.
  static var commands: [CommandUse] { get }
}

extension SDKMethod {
  /// Most methods are for every kind.
  public static var kind: KindName? { nil }
  /// Most methods have a verb of their own or none.
  public static var commands: [CommandUse] { [] }
}

/// How a verb of `sdkctl`, the same for all kinds, calls a kind's method.
public struct CommandUse: Sendable, Hashable {
  /// What the verb reads from standard input or a file.
  public enum Input: String, Sendable, Codable {
    /// Nothing.
    case none
    /// One line, such as a JWT.
    case text
    /// A JSON value.
    case json
  }

  /// `login`, `logout`, `identity`.
  public let verb: String
  /// What it reads.
  public let input: Input
  /// The member of the params that takes what was read.
  public let member: String?
  /// Members of the params that the verb sets itself, such as a null that signs out.
  public let fixed: JSONObject

  /// A verb and what it reads.
  public init(verb: String, input: Input = .none, member: String? = nil, fixed: JSONObject = [:]) {
    self.verb = verb
    self.input = input
    self.member = member
    self.fixed = fixed
  }
}
