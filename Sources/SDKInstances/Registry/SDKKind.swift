public import JSONRPC
public import SDKProtocol
public import StateStore

/// A kind of SDK: its name, settings, methods and adapters. The list of kinds is made from the files `kind.toml` in
/// `Contract/SDKKinds`.
public protocol SDKKind: Sendable {
  /// The kind's name in the protocol and in configuration files, such as `zendesk.chat`.
  var name: KindName { get }
  /// The kind in one sentence, for the OpenRPC document.
  var summary: String { get }
  /// The kind's settings.
  var settings: KindSettings { get }
  /// Whether the external ids of the kind's users are secrets. Observers then get a digest instead.
  var concealsExternalId: Bool { get }
  /// The kind's own methods.
  var methods: [any SDKMethod.Type] { get }
  /// Registers the handlers of the kind's methods.
  func register(in router: inout CallRouter, registry: InstanceRegistry)
  /// Creates the adapter for an instance with these settings.
  ///
  /// - Throws: `invalidParams` with the path of the invalid setting; `invalidChannelKey`.
  func makeAdapter(settings: JSONObject, services: AdapterServices) throws -> any SDKAdapter
}

extension SDKKind {
  /// The kind's entry in the OpenRPC document.
  public var described: OpenRPCDocument.Kind { .init(name, meaning: summary, settings: settings.schema) }
  public var concealsExternalId: Bool { false }
}

/// The services that the program provides to an adapter.
public struct AdapterServices: Sendable {
  /// The instance's UUID, for data that must belong to the instance alone.
  public let instance: String
  /// The same without hyphens.
  public var instanceDigits: String {
    String(decoding: instance.utf8.filter { $0 != UInt8(ascii: "-") }, as: UTF8.self)
  }
  /// The wall clock.
  public let clock: WallClock
  /// The concealment of the users of a kind whose external ids are secrets.
  public let concealment: Concealment
  private let http: any HTTPSending
  /// The secrets that the adapter has sent lately.
  public let history = SentHistory()

  /// The client for WebSockets.
  public let sockets: any SocketOpening
  /// The rule for URLs that come from outside the settings.
  public var supplied: SuppliedURLRule { suppliedNow() }
  private let suppliedNow: @Sendable () -> SuppliedURLRule

  /// Sends one request and reads the whole response, whose texts are read without the secrets of this and of earlier
  /// requests.
  ///
  /// - Throws: `HTTPFailure` when there is no complete response.
  public func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
    let sent = history.sent(request.secrets)
    var response = try await http.send(request)
    response.sent = sent
    response.receivedAt = clock.now()
    return response
  }

  /// Creates the services for an instance.
  ///
  /// - Parameters:
  ///   - digests: the digests of the state.
  ///   - supplied: the rule for supplied URLs. It is evaluated at each use, since the configuration may change it.
  public init(
    instance: String, clock: WallClock, http: any HTTPSending, sockets: any SocketOpening,
    digests: IdentityDigests = IdentityDigests(),
    supplied: @autoclosure @escaping @Sendable () -> SuppliedURLRule = .nowhere
  ) {
    concealment = Concealment(digests, of: InstanceUUID(instance))
    self.instance = instance
    self.clock = clock
    self.http = http
    self.sockets = sockets
    suppliedNow = supplied
  }
}
