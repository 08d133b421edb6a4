import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

/// The classification of vendors' responses: each response has exactly one meaning.
@Suite struct VendorAnswerTests {
  private func answer(_ status: Int, _ body: String = "", _ headers: [String: String] = [:]) -> VendorAnswer {
    VendorAnswer(HTTPResponseParts(status: status, headers: headers, body: Array(body.utf8)), vendor: "The vendor")
  }

  private func reason(_ answer: VendorAnswer) -> Reason? {
    if case .unusable(let error) = answer { error.reason } else { nil }
  }

  @Test func acceptance() {
    if case .accepted(let json) = answer(200, "{\"a\":1}") { #expect(json["a"] == 1) } else { Issue.record("200") }
    if case .accepted(let json) = answer(204) { #expect(json.isNull) } else { Issue.record("204") }
    #expect(reason(answer(200, "<html>")) == .badResponse)
    for empty in [answer(200, " \r\n"), answer(202, "ok"), answer(204, "x")] {
      if case .accepted(let json) = empty { #expect(json.isNull) } else { Issue.record("\(empty)") }
    }
    // The user's text that a JavaScript backend has cut inside an emoji.
    let cut = #"{"id":"7","text":"a\ud83d"}"#
    if case .accepted(let json) = answer(200, cut) { #expect(json["id"] == "7") } else { Issue.record("cut") }
  }

  @Test func refusals() {
    guard
      case .unauthorized(401, let code, let description) =
        answer(401, "{\"error\":{\"code\":\"invalid_auth\",\"description\":\"Invalid JWT\"}}")
    else {
      Issue.record("401")
      return
    }
    #expect(code == "invalid_auth")
    #expect(description == "Invalid JWT")
    if case .unauthorized(401, nil, nil) = answer(401, "not json") {} else { Issue.record("401 without JSON") }
    if case .forbidden = answer(403) {} else { Issue.record("403") }
    if case .notFound = answer(404) {} else { Issue.record("404") }
  }

  @Test func whatSaysNothingOfTheCredential() {
    #expect(reason(answer(500, "oops")) == .serverError)
    #expect(reason(answer(503)) == .serverError)
    #expect(reason(answer(302)) == .badResponse)
    #expect(reason(answer(400)) == .badResponse)
    guard case .unusable(let limited) = answer(429, "", ["retry-after": "12"]) else {
      Issue.record("429")
      return
    }
    #expect(limited.reason == .rateLimited)
    #expect(limited.retryAfter == 12)
  }

  @Test("A header repeats no secret, with and without its control characters", arguments: ["", " ", "\u{1}", "\t"])
  func echoedHeader(separator: String) {
    let echo = "the-secret-of" + separator + "-the-user-4711"
    let secret = Secret("the-secret-of-the-user-4711")
    let response = HTTPResponseParts(status: 200, headers: ["content-encoding": echo], body: [0x1F], sent: [secret])
    guard case .unusable(let error) = VendorAnswer(response, vendor: "The vendor") else {
      Issue.record("\(echo)")
      return
    }
    #expect(error.message.contains("encoding ‹masked›, which"), "\(error.message)")
  }

  @Test("An outage says when to try again only if the vendor does", arguments: [nil, 600] as [Double?])
  func waitOfAnOutage(seconds: Double?) {
    let parts = HTTPResponseParts(status: 503, headers: seconds.map { ["retry-after": String($0)] } ?? [:])
    if case .unusable(let error) = VendorAnswer(parts, vendor: "The vendor") {
      #expect(error.retryAfter == seconds)
    } else {
      Issue.record("503")
    }
    #expect(throws: SDKError.self) { try SalesforceAnswer(parts).resource() }
    do throws(SDKError) { _ = try SalesforceAnswer(parts).resource() } catch { #expect(error.retryAfter == seconds) }
    #expect(throws: SDKError.self) { try ChatGrant(parts, hints: []) }
    do throws(SDKError) {
      _ = try ChatGrant(parts, hints: [])
    } catch {
      #expect(error.retryAfter == seconds)
    }
  }

  @Test(
    "Retry-After is a number of seconds or a date, up to an hour; anything else counts as 5 s",
    arguments: [
      ("0", 0), ("12", 12), ("1.5", 1.5), ("3601", 3600), ("99999999999999999999", 3600), ("inf", 5), ("nan", 5),
      ("-5", 5), ("1e308", 3600), ("1e400", 5), ("", 5), (".", 5), ("1.2.3", 5), ("soon", 5), ("0x10", 5),
      ("Sun, 06 Nov 1994 08:49:57 GMT", 20), ("Sun, 06 Nov 1994 08:49:30 GMT", 0),
      ("Mon, 07 Nov 1994 08:49:37 GMT", 3600), ("Sun, 06 Nov 1994 25:49:37 GMT", 5),
      ("Sunday, 06-Nov-94 08:49:57 GMT", 20), ("Sun Nov  6 08:49:57 1994", 20),
    ] as [(String, Double)])
  func retryAfter(text: String, seconds: Double) {
    let headers = ["retry-after": text, "date": "Sun, 06 Nov 1994 08:49:37 GMT"]
    guard case .unusable(let error) = answer(429, "", headers) else {
      Issue.record("429")
      return
    }
    #expect(error.retryAfter == seconds)
    let limited = HTTPResponseParts(status: 429, headers: headers)
    #expect(throws: SDKError.self) { try SalesforceAnswer(limited).resource() }
    do throws(SDKError) { _ = try SalesforceAnswer(limited).resource() } catch { #expect(error.retryAfter == seconds) }
    do throws(SDKError) {
      _ = try ChatGrant(limited, hints: [])
    } catch {
      #expect(error.retryAfter == seconds)
    }
  }

  /// A response, and what each kind makes of it.
  struct Row: Sendable {
    var status: Int
    var body = ""
    var headers: [String: String] = [:]
    var isRetryable: Bool
    /// A part of the message.
    var says = ""
  }

  private static let rows: [Row] = [
    Row(
      status: 301, headers: ["location": "https://acme.my.salesforce.com/x?token=y"], isRetryable: false,
      says: "https://acme.my.salesforce.com (status 301)"),
    Row(
      status: 302, headers: ["location": "HTTP://[::1]:8080/"], isRetryable: false, says: "http://[::1]:8080 (status"),
    Row(status: 307, headers: ["location": "/relative"], isRetryable: false, says: "redirect"),
    Row(status: 308, isRetryable: false, says: "redirect"), Row(status: 304, isRetryable: false),
    Row(status: 400, isRetryable: false, says: "which waiting does not change"),
    Row(
      status: 400, body: "<html>400 Request Header Or Cookie Too Large</html>", isRetryable: false,
      says: "has 2048 bytes"),
    Row(status: 413, isRetryable: false, says: "has 2048 bytes"), Row(status: 414, isRetryable: false, says: "size"),
    Row(status: 431, body: "<html>", isRetryable: false, says: "has 2048 bytes"),
    Row(status: 405, isRetryable: false), Row(status: 410, isRetryable: false), Row(status: 422, isRetryable: false),
    Row(status: 408, isRetryable: true), Row(status: 425, isRetryable: true), Row(status: 429, isRetryable: true),
    Row(status: 500, isRetryable: true), Row(status: 503, body: "<html>", isRetryable: true),
    Row(status: 511, body: "<html>", isRetryable: true),
    Row(status: 500, body: #"{"error":"invalid_grant"}"#, isRetryable: true),
    Row(status: 200, body: "<html>", isRetryable: true, says: "not JSON"),
    Row(
      status: 200, body: "\u{1F}\u{8B}", headers: ["content-encoding": "gzip"], isRetryable: true, says: "encoding gzip"
    ),
  ]

  /// Returns the error that each kind makes of a response.
  private func errors(_ parts: HTTPResponseParts) -> [String: SDKError] {
    var errors: [String: SDKError] = [:]
    if case .unusable(let error) = VendorAnswer(parts, vendor: "Zendesk") { errors["zendesk"] = error }
    func note(_ name: String, _ work: () throws(SDKError) -> Void) {
      do throws(SDKError) { try work() } catch { errors[name] = error }
    }
    note("edna") { () throws(SDKError) in _ = try EdnaFailure.accepted(parts) }
    note("resource") { () throws(SDKError) in _ = try SalesforceAnswer(parts).resource() }
    note("tokens") { () throws(SDKError) in _ = try SalesforceAnswer(parts).tokens() }
    note("revocation") { () throws(SDKError) in try SalesforceAnswer(parts).checkRevoked() }
    if !String(decoding: parts.body, as: UTF8.self).contains("invalid_grant") {
      note("chat") { () throws(SDKError) in _ = try ChatGrant(parts, hints: []) }
    }
    return errors
  }

  @Test("One table decides for all kinds whether waiting can help, and says why not", arguments: rows)
  func table(row: Row) {
    let parts = HTTPResponseParts(
      status: row.status, headers: row.headers, body: Array(row.body.utf8),
      sent: [Secret(String(repeating: "t", count: 2048)), Secret("short")])
    for (kind, error) in errors(parts) {
      // An empty refusal of a refresh may be a proxy's fault.
      if kind == "tokens", row.status == 400 { continue }
      #expect(error.rpcError.isRetryable == row.isRetryable, "\(kind): \(error)")
      #expect(error.message.contains(row.says), "\(kind): \(error.message)")
      #expect(error.origin == .unreachable && error.httpStatus == row.status, "\(kind)")
    }
    #expect(errors(parts).count >= (row.status == 200 ? 4 : 5))
  }

  @Test(
    "An OAuth error means the same with any status but those of a fault of the server",
    arguments: [200, 302, 400, 401, 403])
  func oauth(status: Int) {
    func parts(_ code: String) -> HTTPResponseParts {
      HTTPResponseParts(status: status, body: Array("{\"error\":\"\(code)\",\"error_description\":\"x\"}".utf8))
    }
    for code in ["invalid_grant", "invalid_token"] {
      if case .unauthorized(status, let found, "x") = VendorAnswer(parts(code), vendor: "Zendesk") {
        #expect(found?.text == code)
      } else {
        Issue.record("\(code) with \(status)")
      }
      let errors = errors(parts(code))
      #expect(errors["tokens"]?.reason == .invalidGrant && errors["tokens"]?.rpcError.isRetryable == false, "\(code)")
      #expect(errors["resource"]?.reason == .invalidAuth, "\(code)")
      #expect(errors["edna"]?.reason == .invalidAuth, "\(code)")
    }
    for code in ["invalid_client", "unauthorized_client", "invalid_request"] {
      let errors = errors(parts(code))
      #expect(errors["tokens"]?.reason == .invalidClient, "\(code)")
      for (kind, error) in errors { #expect(!error.rpcError.isRetryable, "\(kind) of \(code)") }
    }
    for code in ["temporarily_unavailable", "server_error"] {
      #expect(errors(parts(code))["tokens"]?.rpcError.isRetryable == true, "\(code)")
    }
  }

  @Test("Without Date, a date in Retry-After is compared with the daemon's clock")
  func withoutDate() async throws {
    let now = Timestamp(secondsSince1970: 784_111_777)
    for text in ["Sun, 06 Nov 1994 08:50:17 GMT", "Sunday, 06-Nov-94 08:50:17 GMT", "Sun Nov  6 08:50:17 1994"] {
      let vendor = SupportVendor()
      vendor.answer(429, [:], headers: ["retry-after": text])
      let services = AdapterServices(
        instance: "i", clock: WallClock(now: { now }), http: vendor, sockets: NoSockets())
      let response = try await services.send(HTTPRequestParts(instance: "i", method: "GET", url: "https://a.b"))
      #expect(response.retryAfter == 40, "\(text)")
    }
  }

  @Test func refusedSockets() {
    let moved = HTTPFailure.refused(status: 302, location: "https://elsewhere.example/ws").error(vendor: "The vendor")
    #expect(moved.message.contains("https://elsewhere.example (status 302)") && !moved.rpcError.isRetryable)
    #expect(HTTPFailure.refused(status: 503).error(vendor: "The vendor").reason == .serverError)
    #expect(HTTPFailure.refused(status: 429).error(vendor: "The vendor").reason == .rateLimited)
    let error = HTTPFailure.refused(status: 403).error(vendor: "The vendor")
    #expect(error.reason == .badResponse)
    #expect(error.httpStatus == 403)
  }
}
