import Logging
import SDKProtocol

/// The reports about an instance's requests to its vendor, for maintainers who set the level debug.
struct ExchangeLog: Sendable {
  let logger: Logger
  /// Returns the instance.
  let instance: @Sendable () -> InstanceID?

  /// Makes a request, and reports it. Headers, bodies and texts of the vendor may contain secrets, and are left out.
  ///
  /// - Parameter outcome: returns the outcome of a response.
  func reporting<Response: Sendable>(
    _ method: String, _ url: String, outcome: (Response) -> String,
    _ request: () async throws(HTTPFailure) -> Response
  ) async throws(HTTPFailure) -> Response {
    guard logger.logLevel <= .debug else { return try await request() }
    let start = ContinuousClock.now
    do throws(HTTPFailure) {
      let response = try await request()
      report(method, url, outcome(response), since: start)
      return response
    } catch {
      report(method, url, Self.word(for: error), since: start)
      throw error
    }
  }

  private func report(_ method: String, _ url: String, _ outcome: String, since start: ContinuousClock.Instant) {
    let milliseconds = Int(start.duration(to: .now) / .milliseconds(1))
    logger.debug(
      "\(method) \(Self.shown(url)): \(outcome) after \(milliseconds) ms",
      metadata: instance().map { ["instance": "\($0)"] })
  }

  /// The words in the paths of the vendors' APIs.
  private static let words: Set<Substring> = [
    "", "MobilePushServiceDevice", "access", "anonymous", "api", "apps", "appusers", "chat", "client", "clients",
    "config",
    "data", "faye", "history", "jwt", "login", "logout", "me", "me.json", "mobile", "oauth2",
    "push_notification_devices",
    "push_notification_devices.json", "revoke", "sdk", "services", "sobjects", "token", "userinfo", "users", "ws",
  ]

  /// Returns a URL without user, query and fragment. Segments of its path that may be an id or a secret are `*`.
  static func shown(_ url: String) -> String {
    guard let scheme = url.firstRange(of: "://") else { return "*" }
    let rest = url[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
    let segments = rest.split(separator: "/", omittingEmptySubsequences: false)
    let host = (segments.first ?? "").split(separator: "@").last ?? ""
    let path = segments.dropFirst().map { isWord($0) ? $0 : "*" }
    return "\(url[..<scheme.upperBound])\(([host] + path).joined(separator: "/"))"
  }

  /// Returns whether a segment is a word of a vendor's API, or a version such as `v2` or `v58.0`.
  private static func isWord(_ segment: Substring) -> Bool {
    if words.contains(segment) { return true }
    let bytes = segment.utf8
    return bytes.first == UInt8(ascii: "v") && bytes.count <= 6
      && bytes.dropFirst().allSatisfy {
        $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
      }
  }

  private static func word(for failure: HTTPFailure) -> String {
    switch failure {
    case .network: "no connection"
    case .insecure: "no TLS"
    case .proxy: "no connection through the proxy"
    case .timeout: "no response in time"
    case .tooLarge: "a response that is too large"
    case .refused(let status, _): "\(status)"
    }
  }
}
