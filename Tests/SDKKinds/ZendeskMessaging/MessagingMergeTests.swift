import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import SDKKinds

/// The user of an instance after the vendor's `user:merge`.
struct MessagingMergeTests {
  private static let now = Timestamp(secondsSince1970: 1_800_000_000)

  private static func identity(_ type: Token.TokenType) -> IdentityRecord {
    let isKnown = type == .jwt
    return IdentityRecord(
      phase: isKnown ? .authenticated : .anonymous,
      user: User(
        id: "u1", externalId: isKnown ? "alice" : nil, name: isKnown ? "Alice" : nil,
        authenticationType: isKnown ? .jwt : .sessionToken, authenticated: isKnown, verified: isKnown),
      credential: Credential(token: Secret("t1"), type: type, obtainedAt: now, expiresAt: nil),
      kindState: ["realtime_url": Secret("wss://example.com")])
  }

  private static func event(_ id: JSON, userId: JSON? = nil, outgoing: JSON? = "u1", token: JSON? = nil) -> JSON {
    var user: JSONObject = ["_id": id]
    user["userId"] = userId
    var event: JSONObject = ["type": "user:merge", "survivingAppUser": .object(user)]
    event["outgoingAppUserId"] = outgoing
    event["sessionToken"] = token
    return .object(event)
  }

  private func news(_ event: JSON, of type: Token.TokenType) throws -> RealtimeNews? {
    try #require(MessagingMerge(event)).news(for: Self.identity(type), mode: "multi", now: Self.now)
  }

  @Test func `A user with a JWT goes on as the survivor and keeps the JWT`() throws {
    guard case .merged(let merge, let user, let credential, let state)? = try news(Self.event("u2"), of: .jwt) else {
      Issue.record("no merge")
      return
    }
    #expect(merge == .init(from: "u1", to: "u2", mode: "multi"))
    #expect(user.id == "u2")
    #expect(user.externalId == "alice")
    #expect(user.name == "Alice")
    #expect(user.verified)
    #expect(credential == nil)
    #expect(state["realtime_url"] != nil)
  }

  @Test func `Another external id of the survivor is the user's from then on, though nobody has verified it`() throws {
    guard case .merged(_, let user, _, _)? = try news(Self.event("u2", userId: "bob"), of: .jwt) else {
      Issue.record("no merge")
      return
    }
    #expect(user.externalId == "bob")
    #expect(user.name == nil)
    #expect(!user.verified)
  }

  @Test func `An anonymous user goes on as an anonymous survivor, with the token that comes along`() throws {
    for token in [nil, "t2"] as [JSON?] {
      guard case .merged(_, let user, let credential, _)? = try news(Self.event("u2", token: token), of: .sessionToken)
      else {
        Issue.record("no merge")
        return
      }
      #expect(user.id == "u2")
      #expect(user.authenticationType == .sessionToken)
      #expect(credential?.token == token?.stringValue.map { Secret($0) })
    }
  }

  @Test func `Nobody becomes a known user without a JWT of theirs`() throws {
    guard
      case .mergedAway(let merge)? = try news(Self.event("u2", userId: "alice", token: "t2"), of: .sessionToken)
    else {
      Issue.record("not gone")
      return
    }
    #expect(merge.to == "u2")
  }

  @Test func `What is about somebody else, or about nobody new, is ignored`() throws {
    #expect(try news(Self.event("u1"), of: .jwt) == nil)
    #expect(try news(Self.event("u2", outgoing: "u3"), of: .jwt) == nil)
    #expect(try news(Self.event("u2", outgoing: nil), of: .jwt) != nil)
  }

  @Test(
    arguments: [
      .null, 7, "user:merge", [], [:], ["type": "message"], ["type": "user:merge"],
      ["type": "user:merge", "survivingAppUser": "u2"], event(7), event(""), event(.null),
      event(.string(String(repeating: "x", count: 257))),
    ] as [JSON])
  func `What is no merge is none`(event: JSON) {
    #expect(MessagingMerge(event) == nil)
    #expect(MessagingMerge.all(in: event).isEmpty)
    #expect(MessagingMerge.all(in: ["events": [event]]).isEmpty)
  }

  @Test func `Events come alone, in a list, or in an object with a list; what they tell may lie deeper`() {
    let event = Self.event("u2")
    for data in [event, [event], ["events": ["x", event]]] as [JSON] {
      #expect(MessagingMerge.all(in: data).map(\.survivor) == ["u2"])
    }
    let deep: JSON = ["type": "user:merge", "data": ["survivingAppUser": ["_id": "u2", "sessionToken": "t2"]]]
    #expect(MessagingMerge(deep)?.sessionToken == Secret("t2"))
    let long: JSON = .string(String(repeating: "x", count: 5000))
    #expect(MessagingMerge(Self.event("u2", token: long))?.sessionToken == nil)
    #expect(MessagingMerge(Self.event("u2", userId: ""))?.externalId == nil)
  }
}
