/// A table from a method's name to the code that handles its calls.
///
/// A route is a closure that captured its method's types when it was registered, so that a call needs no cast.
///
/// A `Subject` is what a call is about, such as a name in its params. A caller needs it before the call begins, to put
/// calls in an order.
public struct Router<Context: Sendable, Subject: Sendable>: Sendable {
  /// A call with its decoded params, to run for a caller's `Context`. Returns the result as JSON text.
  public typealias Operation = @Sendable (Context) async throws -> [UInt8]
  /// Checks and decodes the params of one call. Runs on any thread, because it does not depend on the caller.
  public typealias Read = @Sendable (JSON?) throws(RPCError) -> ReadCall

  /// A call with decoded params.
  public struct ReadCall: Sendable {
    /// The subject of the call, for example the object that it names.
    public let subject: Subject
    /// Runs the call.
    public let run: Operation
  }

  /// A method with the function that reads its params.
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
  ///   - handler: runs the method.
  public mutating func register<M: RPCMethod>(
    _ method: M.Type, about subject: @escaping @Sendable (M.Params) -> Subject,
    handler: @escaping @Sendable (M.Params, Context) async throws -> M.Result
  ) {
    register(method, about: subject) { try EncodedResult<M>(try await handler($0, $1)) }
  }

  /// Adds the handler of a method that encodes its result itself.
  public mutating func register<M: RPCMethod>(
    _ method: M.Type, about subject: @escaping @Sendable (M.Params) -> Subject,
    handler: @escaping @Sendable (M.Params, Context) async throws -> EncodedResult<M>
  ) {
    routes[M.name] = Route(method: method) { json throws(RPCError) in
      let params = try M.decode(json)
      return ReadCall(subject: subject(params)) { context in try await handler(params, context).text }
    }
  }
}

/// The result of a call as JSON text.
public struct EncodedResult<Method: RPCMethod>: Sendable {
  /// The text.
  public let text: [UInt8]

  /// Encodes a result.
  ///
  /// - Throws: what the type's own `encode(to:)` throws.
  public init(_ result: Method.Result) throws { text = try JSONWriter.bytes(encoding: result) }
}

extension EncodedResult where Method.Result: JSONObjectRepresentable {
  /// Encodes a result in which the member `name` has a text that exists already, such as that of a page.
  ///
  /// - Throws: `UnknownProperty` if results have no such member.
  public init(_ result: Method.Result, replacing name: String, with text: [UInt8]) throws {
    var writer = JSONWriter(reserving: text.count + 256)
    try result.write(to: &writer, replacing: name, with: text)
    self.text = writer.bytes
  }
}
