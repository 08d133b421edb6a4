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
    .optional("refresh", RefreshSettings.jsonSchema, "when and how often a credential is renewed"),
  ]

  /// The common settings that name a file or a proxy. Only admins may change them.
  static let adminOnly: Set<String> = ["ca_file", "proxy", "proxy_credentials"]
  /// The common settings whose values no caller gets.
  static let secrets: Set<String> = ["proxy_credentials"]

  private enum CodingKeys: String, CodingKey {
    case timeout, refresh, jitter, proxy
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
    let refresh = try container.decodeIfPresent(RefreshSettings.self, forKey: .refresh)
    if let jitter = refresh?.jitter, !(0...0.5).contains(jitter) {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: container.codingPath + [CodingKeys.refresh, CodingKeys.jitter],
          debugDescription: "The jitter is a number from 0 to 0.5."))
    }
    self.init(
      timeout: try container.decodeIfPresent(Seconds.self, forKey: .timeout),
      caFile: try container.decodeIfPresent(String.self, forKey: .caFile), refresh: refresh, mode: mode)
  }

  /// Creates settings from these members. `mode` is the kind's default renewal mode.
  public init(timeout: Seconds?, caFile: String?, refresh: RefreshSettings?, mode: RefreshPlanner.Mode) {
    self.timeout = timeout?.value ?? 30
    self.caFile = caFile
    planner = RefreshPlanner(
      mode: refresh?.mode ?? mode, margin: refresh?.margin?.value ?? 60, jitter: refresh?.jitter ?? 0.1,
      minInterval: refresh?.minInterval?.value ?? 5)
    maxAttempts = refresh?.maxAttempts ?? 3
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
}
