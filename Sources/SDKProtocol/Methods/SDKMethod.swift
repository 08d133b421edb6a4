public import JSONRPC

/// A method of the daemon's contract: a JSON-RPC method with its required access and its order.
public protocol SDKMethod: RPCMethod {
  /// The access that the method requires of its caller.
  static var access: MethodAccess { get }
  /// The order of the method relative to other calls.
  static var ordering: MethodOrdering { get }
  /// The part of the instance that the method concerns.
  static var concern: MethodConcern { get }
  /// Whether calls fail while the state can't be used.
  static var needsState: Bool { get }
  /// The kind whose instances have the method; `nil` for all kinds.
  static var kind: KindName? { get }
  /// The verbs of `sdkctl` that call the method, for methods of a single kind.
  static var commands: [CommandUse] { get }
  /// The errors of the method itself, one for each code. `allErrors` adds those that follow from its declaration.
  static var errors: [DeclaredError] { get }
  /// A call of the method with its result. A test makes this call.
  static var example: MethodExample { get }
}

extension SDKMethod {
  /// `true` by default.
  public static var needsState: Bool { true }
  /// By default the user for methods that require the role `use`, and the instance for all others.
  public static var concern: MethodConcern { access == .role(.use) ? .user : .instance }
  /// `nil` by default: most methods are for every kind.
  public static var kind: KindName? { nil }
  /// Empty by default: most methods have a verb of their own or none.
  public static var commands: [CommandUse] { [] }
  /// Empty by default.
  public static var errors: [DeclaredError] { [] }

  /// The errors that the method can respond with, sorted by code. The errors of `DeclaredError.ofEveryRequest` are not
  /// included.
  public static var allErrors: [DeclaredError] {
    var all = errors
    func add(_ error: DeclaredError, _ applies: Bool) {
      if applies, !all.contains(where: { $0.code == error.code }) { all.append(error) }
    }
    // Any role includes observe, so a caller without it gets instanceNotFound.
    add(.accessDenied, access != .anyone && access != .role(.observe))
    let isAboutOne = Params.jsonSchema.members?.contains { $0.name == "instance" && $0.isRequired } == true
    add(.instanceNotFound, isAboutOne && access != .creator)
    add(.store, needsState)
    // The failures of a login that the call waited for.
    if concern != .instance { for error in DeclaredError.ofAcceptedLogins { add(error, true) } }
    return all.sorted { $0.code > $1.code }
  }
}

/// Params that are read without their schema and without a decoder where they have a frequent form.
public protocol PlainParams {
  /// Reads params. Returns `nil` for all that only decoding accepts, and for invalid ones.
  init?(plain params: JSON)
}

/// The mapping from a verb of `sdkctl`, which all kinds share, to the method of one kind.
public struct CommandUse: Sendable, Hashable {
  /// The input that a verb reads from standard input or a file.
  public enum Input: String, Sendable, Codable {
    /// No input.
    case none
    /// A line of text, such as a JWT.
    case text
    /// A JSON value.
    case json
  }

  /// The verb: `login`, `logout` or `identity`.
  public let verb: String
  /// The input that the verb reads.
  public let input: Input
  /// The member of the params that holds the input.
  public let member: String?
  /// The members of the params that the verb sets to fixed values, such as a null that signs out.
  public let fixed: JSONObject

  /// Creates a mapping for a verb.
  public init(verb: String, input: Input = .none, member: String? = nil, fixed: JSONObject = [:]) {
    self.verb = verb
    self.input = input
    self.member = member
    self.fixed = fixed
  }
}
