public import JSONRPC

/// `daemon.info`: returns the daemon's version, process, kinds and limits.
public enum DaemonInfo: SDKMethod {
  public static let name = "daemon.info"
  public static let summary = "What this daemon is."
  public static let documentation = """
    The daemon's name, version, version of the contract, process id, start, the kinds it hosts, the limits
    for callers other than admins, and how often it has been started on this state. Admins also get the proxy to the
    vendors, the paths of the configuration, the state, the socket and the token providers' sockets, and the level of the journal.
    """
  public static let access = MethodAccess.anyone
  public static let ordering = MethodOrdering.free
  public static let needsState = false
  public static let example = MethodExample(
    result: [
      "name": "sdkd",
      "version": .string(SDKVersion.program),
      "apiVersion": .string(SDKVersion.api),
      "pid": 4021,
      "startedAt": "2026-11-24T08:42:35.272Z",
      "kinds": ["edna.chatcenter", "salesforce.chat", "zendesk.chat", "zendesk.messaging", "zendesk.support"],
      "limits": [
        "bufferedBytesPerUid": 33554432,
        "callBurst": 1000,
        "callsPerSecond": 500,
        "connections": 128,
        "frameTimeout": 10,
        "instances": 20,
        "maxFrameBytes": 1048576,
        "maxInFlight": 64,
        "maxInFlightPerUid": 1024,
        "maxOutboundBytes": 4194304,
        "subscriptions": 16,
        "subscriptionsPerUid": 256,
        "totalBufferedBytes": 268_435_456, "totalConnections": 2048, "totalMessagesPerSecond": 16_000,
        "totalSubscriptions": 4096,
        "writeTimeout": 30,
      ],
      "restartCount": 0,
      "paths": [
        "configuration": "/etc/sdkd/sdkd.toml", "state": "/var/lib/sdkd", "socket": "/run/sdkd/sdkd.sock",
        "unitSockets": "/run/sdkd-providers",
      ],
      "journal": ["level": "info", "configured": "info"],
    ])

  public typealias Params = Empty

  /// The paths of a daemon's files.
  public struct Paths: RPCValue, Hashable {
    /// The path of the configuration file, which need not exist.
    public var configuration: String
    /// The path of the state directory.
    public var state: String
    /// The path of the control socket.
    public var socket: String
    /// The path of the directory with the sockets of token providers that are units.
    public var unitSockets: String

    /// Creates the paths.
    public init(configuration: String, state: String, socket: String, unitSockets: String) {
      self.configuration = configuration
      self.state = state
      self.socket = socket
      self.unitSockets = unitSockets
    }

    public static let jsonSchema = JSONSchema.object([
      .required("configuration", .string(), "the configuration file, which need not exist"),
      .required("state", .string(), "the state directory"),
      .required("socket", .string(), "the control socket"),
      .required("unitSockets", .string(), "the folder with the sockets of token providers that are units"),
    ])
  }

  /// The result of `daemon.info`.
  public struct Result: RPCValue {
    /// The daemon's name: `sdkd`.
    public var name: String
    /// The daemon's version.
    public var version: String
    /// The contract's version.
    public var apiVersion: String
    /// The process id.
    public var pid: Int
    /// The time at which the daemon started.
    public var startedAt: Timestamp
    /// The kinds of instance that the daemon hosts.
    public var kinds: [String]
    /// The limits for callers other than admins, by name. Durations are in seconds.
    public var limits: [String: Double]
    /// The number of earlier starts on this state.
    public var restartCount: Int
    /// The proxy to the vendors, for admins; `nil` for direct connections.
    public var proxy: Proxy?
    /// The paths of the daemon's files; for admins only.
    public var paths: Paths?
    /// The level of the journal; for admins only.
    public var journal: JournalLevel?

    /// Creates a result with these members.
    public init(
      name: String, version: String, apiVersion: String, pid: Int, startedAt: Timestamp, kinds: [String],
      limits: [String: Double], restartCount: Int, proxy: Proxy? = nil, paths: Paths? = nil,
      journal: JournalLevel? = nil
    ) {
      self.name = name
      self.version = version
      self.apiVersion = apiVersion
      self.pid = pid
      self.startedAt = startedAt
      self.kinds = kinds
      self.limits = limits
      self.restartCount = restartCount
      self.proxy = proxy
      self.paths = paths
      self.journal = journal
    }

    /// An HTTP proxy, without its credentials.
    public struct Proxy: RPCValue {
      /// The URL, `http://HOST:PORT`.
      public var url: String
      /// The hosts, domains and ranges of addresses that are reached without it.
      public var exceptions: [String]

      /// Creates a proxy with these members.
      public init(url: String, exceptions: [String]) {
        self.url = url
        self.exceptions = exceptions
      }

      public static let jsonSchema = JSONSchema.object([
        .required("url", .string(), "http://HOST:PORT"),
        .required(
          "exceptions", .array(.string()), "the hosts, domains and ranges of addresses that are reached directly"),
      ])
    }

    public static let jsonSchema = JSONSchema.object([
      .required("name", .string(), "sdkd"),
      .required("version", .string(), "the daemon's version"),
      .required("apiVersion", .string(), "the contract's version"),
      .required("pid", .integer(), "the process id"),
      .required("startedAt", Timestamp.jsonSchema, "when it started"),
      .required("kinds", .array(KindName.jsonSchema), "the kinds of instance it hosts"),
      .required("limits", .map(.number), "the limits for callers other than admins; durations in seconds"),
      .required("restartCount", .integer(minimum: 0), "how often it was started on this state before"),
      .optional(
        "proxy", Proxy.jsonSchema, "for admins: the proxy to the vendors, where an instance has none of its own"),
      .optional("paths", Paths.jsonSchema, "where its files are; for admins only"),
      .optional("journal", JournalLevel.jsonSchema, "what goes to the journal; for admins only"),
    ])
  }
}
