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
      case .unauthorized(let code, let description) =
        answer(401, "{\"error\":{\"code\":\"invalid_auth\",\"description\":\"Invalid JWT\"}}")
    else {
      Issue.record("401")
      return
    }
    #expect(code == "invalid_auth")
    #expect(description == "Invalid JWT")
    if case .unauthorized(nil, nil) = answer(401, "not json") {} else { Issue.record("401 without JSON") }
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
    #expect(throws: SDKError.self) { try ChatGrant(parts, token: Secret("t"), hints: []) }
    do throws(SDKError) {
      _ = try ChatGrant(parts, token: Secret("t"), hints: [])
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
      _ = try ChatGrant(limited, token: Secret("t"), hints: [])
    } catch {
      #expect(error.retryAfter == seconds)
    }
  }

  @Test func refusedSockets() {
    #expect(HTTPFailure.refused(status: 503).error(vendor: "The vendor").reason == .serverError)
    #expect(HTTPFailure.refused(status: 429).error(vendor: "The vendor").reason == .rateLimited)
    let error = HTTPFailure.refused(status: 403).error(vendor: "The vendor")
    #expect(error.reason == .badResponse)
    #expect(error.httpStatus == 403)
  }
}
