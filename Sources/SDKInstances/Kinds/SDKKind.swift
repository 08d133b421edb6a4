public import JSONRPC
public import SDKProtocol

/// One kind of SDK: what the rest of the program knows of it. A kind is a folder and one line in the list of kinds.
public protocol SDKKind: Sendable {
  /// Its name on the wire and in files.
  var name: KindName { get }
  /// The shape of its settings.
  var settingsSchema: JSONSchema { get }
  /// Settings whose values nobody is shown.
  var secretSettings: Set<String> { get }
  /// Settings that name a file on the daemon's machine: admins only.
  var fileSettings: Set<String> { get }
  /// Settings that hold a URL.
  var urlSettings: Set<String> { get }
  /// The vendor's own domains: where others than admins may point those URLs, unless `[network] allow` says more.
  var vendorDomains: [String] { get }
  /// URLs that settings hold in another form, such as a channel key, by the setting's name.
  func hiddenURLs(in settings: JSONObject) -> [String: String]
  /// Settings that say which backend it is: a change is another identity and wipes.
  var backendSettings: Set<String> { get }
  /// Whether the external id of its users is a secret, of which observers get a digest.
  var concealsExternalId: Bool { get }
  /// Its own methods.
  var methods: [any SDKMethod.Type] { get }
  /// Adds the handlers of its methods.
  func register(in router: inout Router<CallContext>, registry: InstanceRegistry)
  /// The SDK for an instance with these settings.
  ///
  /// - Throws: `invalidParams` with the member below `settings`; `invalidChannelKey`.
  func makeAdapter(settings: JSONObject, services: AdapterServices) throws -> any SDKAdapter
}

extension SDKKind {
  public var concealsExternalId: Bool { false }
  public func hiddenURLs(in settings: JSONObject) -> [String: String] { [:] }
}

/// What the program lends an adapter.
public struct AdapterServices: Sendable {
  /// The instance's uuid, for what must be the instance's alone.
  public let instance: String
  /// The wall clock.
  public let clock: WallClock
  /// Where HTTP requests go out.
  public let http: any HTTPSending

  /// Where WebSockets are opened.
  public let sockets: any SocketOpening
  /// Where URLs that others than the settings supply may lead.
  public var supplied: SuppliedURLRule { suppliedNow() }
  private let suppliedNow: @Sendable () -> SuppliedURLRule

  /// Services for an instance; `supplied` is looked at each time, since the configuration may change it.
  public init(
    instance: String, clock: WallClock, http: any HTTPSending, sockets: any SocketOpening,
    supplied: @autoclosure @escaping @Sendable () -> SuppliedURLRule = .free
  ) {
    self.instance = instance
    self.clock = clock
    self.http = http
    self.sockets = sockets
    suppliedNow = supplied
  }
}
