import JSONRPC
import SDKClient
import SDKProtocol

/// The context of a verb: the daemon's client, the input and the outputs.
struct CommandContext {
  let client: SDKClient
  let output: Output
  let errors: Output
  let input: Input
  let presenter: Presenter
  /// The daemon on another machine; `nil` for one on this machine.
  let remote: RemoteHost?
  /// The trace of the calls; `nil` without `--trace`.
  let trace: Trace?
  /// The value of `--timeout`.
  let timeout: Seconds?
  /// The time for calls to the daemon.
  var budget: CallBudget
  private let location: SocketLocation
  private let connector: SDKConnector?

  init(
    _ options: GlobalOptions, _ output: Output, _ errors: Output, _ input: Input,
    _ connector: SDKConnector?
  ) {
    remote = options.remote
    location = options.location
    self.connector = connector
    client = remote.map(Self.client) ?? Self.client(options.location, connector)
    self.output = output
    self.errors = errors
    self.input = input
    presenter = Presenter(
      format: options.format, template: options.template, hasHeaders: !options.noHeaders, output: output)
    trace = options.trace ? Trace() : nil
    timeout = options.timeout
    budget = CallBudget(options.timeout?.duration ?? CallBudget.standard)
  }

  private static func client(_ location: SocketLocation, _ connector: SDKConnector?) -> SDKClient {
    // Starting threads and the runtime of tasks would take longer than the call.
    SDKClient(
      socket: location, options: ClientOptions(callTimeout: nil, callsBlock: connector == nil),
      connector: connector ?? SDKClient.unixSocket)
  }

  /// Returns a client of a daemon on this machine for a command that never ends, whose calls leave the thread to other
  /// tasks.
  func concurrentClient() -> SDKClient {
    SDKClient(socket: location, connector: connector ?? SDKClient.unixSocket)
  }

  private static func client(_ remote: RemoteHost) -> SDKClient {
    // The bridge at the other end checks the server. A lost connection is not opened again: ssh said why.
    let options = ClientOptions(
      trust: ServerTrust { _ in true }, readRetry: RetrySchedule(limit: .zero), callTimeout: nil)
    return SDKClient(socket: .path("the socket on \(remote.name)"), options: options, connector: remote.connector)
  }

  /// Returns this context with another budget, unless the command line gives one.
  func limited(to standard: Duration) -> CommandContext {
    var copy = self
    copy.budget = CallBudget(timeout?.duration ?? standard)
    return copy
  }

  /// The extra time limit of a call whose params hold the timeout too, since the daemon's own error says more.
  static let grace = Duration.milliseconds(500)

  /// Calls a method. Returns its result unchanged, with members that this version does not know.
  ///
  /// - Parameter isTimed: whether the params hold the timeout.
  func ask<M: SDKMethod>(_ method: M.Type, _ params: M.Params, isTimed: Bool = false) async throws -> JSON {
    try await call(M.name, try JSONValueEncoder.encode(params), ordering: M.ordering, isTimed: isTimed)
  }

  /// Calls a method by its name.
  ///
  /// - Parameters:
  ///   - isTimed: whether the params hold the timeout.
  ///   - isWaiting: whether the call waits for the vendor, and so has no time limit without `--timeout`.
  func call(
    _ method: String, _ params: JSON, ordering: MethodOrdering? = nil, isTimed: Bool = false, isWaiting: Bool = false
  ) async throws -> JSON {
    try await budget.spend { left in
      let limit = isTimed && timeout != nil ? left + Self.grace : left
      return try await traced(method, params) {
        try await client.call(
          method, params, ordering: ordering, timeout: isWaiting && timeout == nil ? nil : limit)
      }
    }
  }

  /// Runs a call. With `--trace`, prints the call and its result on standard error.
  private func traced(_ method: String, _ params: JSON, _ call: () async throws -> JSON) async throws -> JSON {
    guard let trace else { return try await call() }
    let (id, start) = (trace.next(), ContinuousClock.now)
    try errors.line(trace.request(id, method, params))
    do {
      let result = try await call()
      try errors.line(trace.result(id, result, after: start.duration(to: .now)))
      return result
    } catch {
      try errors.line(trace.failure(id, error, after: start.duration(to: .now)))
      throw error
    }
  }
}

extension CommandContext {
  /// Returns all instances that match, fetched page by page.
  func instances(_ params: InstanceList.Params) async throws -> [JSON] {
    var params = params
    params.limit = 200
    var all: [JSON] = []
    while true {
      let page = try await ask(InstanceList.self, params)
      all += page["instances"]?.arrayValue ?? []
      guard let next = page["next"]?.stringValue.flatMap({ InstanceID($0) }), next != params.after else { return all }
      params.after = next
    }
  }

  /// Returns the current cursor. A subscription that starts there misses nothing that happens after this call.
  func currentCursor(_ instances: [InstanceID]? = nil) async throws -> String {
    let made = try await ask(EventsSubscribe.self, .init(instances: instances))
    guard let cursor = made["cursor"]?.stringValue else {
      throw CommandFailure(message: "The daemon's answer has no cursor.", reason: "badAnswer", status: 1)
    }
    return cursor
  }
}
