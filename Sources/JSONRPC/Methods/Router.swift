/// From a method's name to the code that answers it.
///
/// A route is a closure that captured its method's types when it was registered, so that a call needs no cast.
public struct Router<Context: Sendable>: Sendable {
  /// Decoded params and the handler, waiting to be run.
  public typealias Operation = @Sendable () async throws -> [UInt8]
  /// Checks and decodes the params of one call. Runs on any thread, since it needs nothing of the caller.
  public typealias Read = @Sendable (JSON?) throws(RPCError) -> ReadCall

  /// A call with decoded params.
  public struct ReadCall: Sendable {
    /// Begins the call for a caller.
    public let begin: @Sendable (Context) -> Prepared
  }

  /// A call that has passed the checks of its shape.
  public enum Prepared: Sendable {
    /// Answered at once: the result as JSON text.
    case immediate([UInt8])
    /// To be run; gives the result as JSON text.
    case deferred(Operation)
  }

  /// One route.
  public struct Route: Sendable {
    /// The method.
    public let method: any RPCMethod.Type
    /// Reads the params of its calls.
    public let read: Read
  }

  private var routes: [String: Route] = [:]

  /// A router without routes.
  public init() {}

  /// The names that have a route.
  public var names: Set<String> { Set(routes.keys) }

  /// The route of a method's name.
  public subscript(name: String) -> Route? { routes[name] }

  /// Adds the handler of a method; a second one for the same method replaces the first.
  ///
  /// - Parameters:
  ///   - immediate: answers without waiting when it can, or gives `nil`; runs on the event loop.
  ///   - handler: the method itself.
  public mutating func register<M: RPCMethod>(
    _ method: M.Type,
    immediate: (@Sendable (M.Params, Context) -> [UInt8]?)? = nil,
    handler: @escaping @Sendable (M.Params, Context) async throws -> M.Result
  ) {
    routes[M.name] = Route(method: method) { json throws(RPCError) in
      let params = try M.decode(json)
      return ReadCall { context in
        if let answer = immediate?(params, context) { return .immediate(answer) }
        return .deferred { JSONWriter.bytes(of: try JSONValueEncoder.encode(try await handler(params, context))) }
      }
    }
  }
}
