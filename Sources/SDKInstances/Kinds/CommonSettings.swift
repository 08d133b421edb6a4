public import JSONRPC
public import SDKProtocol

/// The settings that all kinds have (sdkd.toml(5)).
public struct CommonSettings: Sendable, Hashable {
  /// The seconds that one request to the vendor may take.
  public var timeout: Double
  /// The path of the file with the CA certificates to trust; `nil` for the daemon's.
  public var caFile: String?
  /// The planner, which decides when a credential is renewed.
  public var planner: RefreshPlanner
  /// The number of supplied tokens that may be refused in one recovery.
  public var maxAttempts: Int
  /// The seconds that one recovery may take as a whole.
  public var deadline: Double

  /// The common settings as members of a kind's JSON schema.
  public static let members: [JSONMember] = [
    .optional("timeout", Seconds.jsonSchema, "time for one request to the vendor; 30 s unless given"),
    .optional("ca_file", .string(called: "path"), "certificates to trust instead of the daemon's; admin only"),
    .optional(
      "proxy", .string(called: "none, environment or http://HOST:PORT"),
      "the HTTP proxy to the vendor; the daemon's unless given; admin only"),
    .optional("proxy_credentials", .string(), "USER:PASSWORD for that proxy; admin only"),
    .optional("refresh", Refresh.jsonSchema, "when and how often a credential is renewed"),
  ]

  /// The common settings that name a file or a proxy. Only admins may change them.
  static let adminOnly: Set<String> = ["ca_file", "proxy", "proxy_credentials"]
  /// The common settings whose values no caller gets.
  static let secrets: Set<String> = ["proxy_credentials"]

  private enum CodingKeys: String, CodingKey {
    case timeout, refresh, proxy
    case caFile = "ca_file"
    case proxyCredentials = "proxy_credentials"
  }

  /// Decodes the common part of a kind's settings. `mode` is the kind's default renewal mode.
  public init(from decoder: any Decoder, mode: RefreshPlanner.Mode) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    // `GuardedNetwork` adds the proxy to requests, so it is only checked here.
    _ = try ProxyRule(
      proxy: try container.decodeIfPresent(String.self, forKey: .proxy),
      credentials: try container.decodeIfPresent(String.self, forKey: .proxyCredentials))
    self.init(
      timeout: try container.decodeIfPresent(Seconds.self, forKey: .timeout),
      caFile: try container.decodeIfPresent(String.self, forKey: .caFile),
      refresh: try container.decodeIfPresent(Refresh.self, forKey: .refresh), mode: mode)
  }

  /// Creates settings from these members. `mode` is the kind's default renewal mode.
  public init(timeout: Seconds?, caFile: String?, refresh: Refresh?, mode: RefreshPlanner.Mode) {
    self.timeout = timeout?.value ?? 30
    self.caFile = caFile
    planner = RefreshPlanner(
      mode: refresh?.mode ?? mode, margin: refresh?.margin?.value ?? 60, jitter: refresh?.jitter ?? 0.1,
      minInterval: refresh?.min_interval?.value ?? 5)
    maxAttempts = refresh?.max_attempts ?? 3
    deadline = refresh?.deadline?.value ?? 60
  }

  /// Returns the proxy that an instance's settings name.
  ///
  /// - Throws: `invalidParams` with the member.
  static func proxy(in settings: JSONObject) throws(RPCError) -> ProxyRule {
    do throws(SDKError) {
      return try ProxyRule(
        proxy: settings["proxy"]?.stringValue, credentials: settings["proxy_credentials"]?.stringValue)
    } catch {
      throw .invalidParams(error.message, member: error.member.map { "settings.\($0)" } ?? "settings")
    }
  }

  /// The setting `refresh`: a table with the rules for renewals.
  public struct Refresh: RPCValue, Hashable {
    var mode: RefreshPlanner.Mode?
    var margin: Seconds?
    var jitter: Double?
    var min_interval: Seconds?
    var max_attempts: Int?
    var deadline: Seconds?

    public static let jsonSchema = JSONSchema.object([
      .optional("mode", .enumeration(RefreshPlanner.Mode.allCases.map(\.rawValue)), "ahead of time or on demand"),
      .optional("margin", Seconds.jsonSchema, "time before the end; at least a tenth of the lifetime is used"),
      .optional("jitter", .number, "a fraction of the lifetime, 0 to 0.5, by which a renewal may come earlier"),
      .optional("min_interval", Seconds.jsonSchema, "time between two renewals; 5 s unless given"),
      .optional("max_attempts", .integer(minimum: 1, maximum: 10), "refused tokens in one recovery; 3 unless given"),
      .optional("deadline", Seconds.jsonSchema, "time for one recovery as a whole; 60 s unless given"),
    ])

    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      mode = try container.decodeIfPresent(RefreshPlanner.Mode.self, forKey: .mode)
      margin = try container.decodeIfPresent(Seconds.self, forKey: .margin)
      jitter = try container.decodeIfPresent(Double.self, forKey: .jitter)
      min_interval = try container.decodeIfPresent(Seconds.self, forKey: .min_interval)
      max_attempts = try container.decodeIfPresent(Int.self, forKey: .max_attempts)
      deadline = try container.decodeIfPresent(Seconds.self, forKey: .deadline)
      if let jitter, !(0...0.5).contains(jitter) {
        throw DecodingError.dataCorruptedError(
          forKey: .jitter, in: container, debugDescription: "The jitter is a number from 0 to 0.5.")
      }
    }
  }
}
