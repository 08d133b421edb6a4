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

  /// Returns a URL without user, query and fragment. Segments of its path that may be an id or a secret are `*`.
  static func shown(_ url: String) -> String {
    guard let scheme = url.firstRange(of: "://") else { return "*" }
    let rest = url[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
    let segments = rest.split(separator: "/", omittingEmptySubsequences: false)
    let host = (segments.first ?? "").split(separator: "@").last ?? ""
    let path = segments.dropFirst().map { isWord($0) ? $0 : "*" }
    return "\(url[..<scheme.upperBound])\(([host] + path).joined(separator: "/"))"
  }

  /// Returns whether a segment can only be a word of a vendor's API, such as `appusers`, `me.json` or `v2`.
  private static func isWord(_ segment: Substring) -> Bool {
    let bytes = segment.utf8
    guard bytes.count <= 32 else { return false }
    if bytes.first == UInt8(ascii: "v"), bytes.count <= 6,
      bytes.dropFirst().allSatisfy({ $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    {
      return true
    }
    return bytes.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || "_-.".utf8.contains($0) }
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
