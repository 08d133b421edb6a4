import JSONRPC
import SDKProtocol
import Testing

@testable import SDKKinds

/// The bounds of the values in a user response.
@Suite struct MessagingUserTests {
  private func reason(_ json: JSON) -> Reason? {
    do throws(SDKError) {
      _ = try MessagingUser(json, without: .none)
      return nil
    } catch {
      return error.reason
    }
  }

  @Test("An id or session token out of its bounds is a bad answer")
  func ids() {
    #expect(reason(["appUser": ["_id": "5f"]]) == nil)
    #expect(reason([:]) == nil)
    for id in ["", String(repeating: "x", count: 257), "a" + String(repeating: "\u{301}", count: 128)] {
      #expect(reason(["appUser": ["_id": .string(id)]]) == .badResponse)
    }
    #expect(reason(["sessionToken": .string(String(repeating: "x", count: 4097))]) == .badResponse)
  }

  @Test("Neither a name nor an id repeats a secret of the request")
  func secrets() throws {
    let sent = SentSecrets([Secret("the.j.w.t.of.alice")])
    let user = try MessagingUser(
      ["appUser": ["_id": "u1", "givenName": "Al", "surname": "the.j.w.t.of.alice"]], without: sent)
    #expect(user.name == "Al ‹masked›")
    #expect(throws: SDKError.self) { try MessagingUser(["appUser": ["_id": "the.j.w.t.of.alice"]], without: sent) }
  }

  @Test("Names and e-mail addresses are cut to 512 bytes, at the end of a character")
  func names() throws {
    let long = String(repeating: "é", count: 300)
    let user = try MessagingUser(
      ["appUser": ["givenName": .string(long), "surname": .string(long), "email": .string("x" + long)]], without: .none)
    #expect(user.name == String(repeating: "é", count: 256))
    #expect(user.email == "x" + String(repeating: "é", count: 255))
  }
}
