import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// Registration at the mediator: accepted, refused and banned visitors.
struct ChatRegisterTests {
  var backend = ChatBackend()
  let now = Date(timeIntervalSince1970: 1_800_000_000)

  /// Returns a register frame with the members in `change` replaced. Without `idt`, that member is missing.
  static func frame(idt: String? = nil, mid: String = "m1", _ change: [String: JSON] = [:]) -> JSON {
    let frame = JSON.of([
      "__type": "register", "accountKey": .string(DemoAccounts.chatAccountKey), "app_id": "sdkd",
      "idt": .optional(idt), "mid": .string(mid), "source": "sdkd", "source_ver": "1",
    ])
    return .object((frame.members ?? [:]).merging(change) { $1 })
  }

  private mutating func idToken(_ externalID: String) throws -> String {
    let token = DemoChatToken(externalID: externalID, issuedAt: now).text
    let call = BackendCall(
      method: "POST", path: ["authenticated", "web", "jwt"], headers: ["content-type": FormBody.contentType],
      body: FormBody.encode(["account_key": DemoAccounts.chatAccountKey, "token": token]), now: now, baseURL: "")
    return try #require(backend.respond(to: call).idToken)
  }

  private mutating func outcome(_ frame: JSON, after seconds: TimeInterval = 0) -> ChatRegistration.Outcome {
    backend.register(frame, now: now.addingTimeInterval(seconds)).outcome
  }

  @Test mutating func `Anonymous and authenticated visitors are let in`() throws {
    #expect(outcome(Self.frame()) == .ok)
    let idt = try idToken("alice")
    let registration = backend.register(Self.frame(idt: idt), now: now)
    #expect(registration.acknowledgement == ["__type": "register_ack", "status": "ok"])
    #expect(registration.externalID == "alice")
    #expect(backend.state(baseURL: "")["registrations"]?.elements.count == 2)
  }

  @Test mutating func `An id token must be known, alive and of the account`() throws {
    let idt = try idToken("alice")
    #expect(outcome(Self.frame(idt: "zct_unknown")) == .unauthorized)
    #expect(outcome(Self.frame(["idt": 5])) == .unauthorized)
    #expect(outcome(Self.frame(idt: idt), after: 3_599) == .ok)
    #expect(outcome(Self.frame(idt: idt), after: 3_600) == .unauthorized)
    let account = JSON.string(DemoAccounts.chatAccountKeyWithoutSecret)
    #expect(outcome(Self.frame(idt: idt, ["accountKey": account])) == .unauthorized)
    try backend.revokeTokens(of: "alice", at: now)
    #expect(outcome(Self.frame(idt: idt)) == .unauthorized)
  }

  @Test mutating func `A machine id stays its first visitor's`() throws {
    let (alice, bob) = (try idToken("alice"), try idToken("bob"))
    #expect(outcome(Self.frame(idt: alice)) == .ok)
    #expect(outcome(Self.frame(idt: bob)) == .unauthorized)
    #expect(outcome(Self.frame(idt: bob, mid: "m2")) == .ok)
  }

  @Test mutating func `The banned are dropped by external id or machine, until that is lifted`() throws {
    let idt = try idToken("alice")
    let control = { (body: JSON) in ControlCall(body: body, now: .now, baseURL: "") }
    _ = try backend.control("_ban", control(["externalId": "alice", "mid": "m9"]))
    let registration = backend.register(Self.frame(idt: idt), now: now)
    #expect(registration.acknowledgement == ["__type": "register_ack", "error": "dropped"])
    #expect(outcome(Self.frame(mid: "m9")) == .dropped)
    _ = try backend.control("_ban", control(["externalId": "alice", "mid": "m9", "banned": false]))
    #expect(outcome(Self.frame(idt: idt)) == .ok)
    #expect(outcome(Self.frame(mid: "m9")) == .ok)
    #expect(throws: ControlMistake.self) { try backend.control("_ban", control([:])) }
  }

  @Test(
    arguments: [
      ["__type": "hello"], ["accountKey": "unknown"], ["accountKey": .null], ["mid": ""], ["mid": .null],
      ["source": .null], ["source_ver": 5],
    ] as [[String: JSON]])
  mutating func `A frame that makes no sense is unknown`(change: [String: JSON]) throws {
    #expect(outcome(Self.frame(change)) == .unknown)
  }
}
