/// A table from a method's name to the code that handles its calls.
///
/// A route is a closure that captured its method's types when it was registered, so that a call needs no cast.
///
/// A `Subject` is what a call is about, such as a name in its params. A caller needs it before the call begins, to put
/// calls in an order.
public struct Router<Context: Sendable, Subject: Sendable>: Sendable {
  /// A call that is ready to run, with its decoded params. Returns the result as JSON text.
  public typealias Operation = @Sendable () async throws -> [UInt8]
  /// Checks and decodes the params of one call. Runs on any thread, because it does not depend on the caller.
  public typealias Read = @Sendable (JSON?) throws(RPCError) -> ReadCall

  /// A call with decoded params.
  public struct ReadCall: Sendable {
    /// What the call is about.
    public let subject: Subject
    /// Starts the call with the caller's `Context`: answers it at once or returns the operation to run.
    public let begin: @Sendable (Context) -> Prepared
  }

  /// A call whose params have passed the check of their shape.
  public enum Prepared: Sendable {
    /// A call that was answered at once: the result as JSON text.
    case immediate([UInt8])
    /// A call that is still to run: the operation returns the result as JSON text.
    case deferred(Operation)
  }

  /// The route of one method.
  public struct Route: Sendable {
    /// The method.
    public let method: any RPCMethod.Type
    /// The function that checks and decodes the params of a call.
    public let read: Read
  }

  private var routes: [String: Route] = [:]

  /// Makes a router without routes.
  public init() {}

  /// The names that have a route.
  public var names: Set<String> { Set(routes.keys) }

  /// The route of the method with this name; `nil` if there is none.
  public subscript(name: String) -> Route? { routes[name] }

  /// Adds the handler of a method; a second one for the same method replaces the first.
  ///
  /// - Parameters:
  ///   - subject: returns what a call with these params is about.
  ///   - immediate: answers without waiting, or returns `nil` if it can't; runs on the event loop.
  ///   - handler: runs the method when `immediate` has not answered.
  public mutating func register<M: RPCMethod>(
    _ method: M.Type, about subject: @escaping @Sendable (M.Params) -> Subject,
    immediate: (@Sendable (M.Params, Context) -> [UInt8]?)? = nil,
    handler: @escaping @Sendable (M.Params, Context) async throws -> M.Result
  ) {
    routes[M.name] = Route(method: method) { json throws(RPCError) in
      let params = try M.decode(json)
      return ReadCall(subject: subject(params)) { context in
        if let answer = immediate?(params, context) { return .immediate(answer) }
        return .deferred { JSONWriter.bytes(of: try JSONValueEncoder.encode(try await handler(params, context))) }
      }
    }
  }
}
