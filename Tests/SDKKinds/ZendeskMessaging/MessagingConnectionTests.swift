import JSONRPC
import SDKInstances
import SDKProtocol
import Synchronization
import Testing

@testable import SDKKinds

/// The meaning of a realtime socket's messages and of its ends.
struct MessagingConnectionTests {
  private static let now = Timestamp(secondsSince1970: 1_800_000_000)

  private static func identity(_ token: Secret = Secret("jwt-1"), expiresAt: Timestamp? = nil) -> IdentityRecord {
    IdentityRecord(
      phase: .authenticated,
      user: User(id: "u1", externalId: "alice", authenticationType: .jwt, authenticated: true, verified: true),
      credential: Credential(token: token, type: .jwt, obtainedAt: now, expiresAt: expiresAt))
  }

  private static func connection(
    _ peer: MessagingPeer, expiresAt: Timestamp? = nil, former: FormerClient? = nil, resuming id: String? = nil
  ) -> MessagingConnection {
    let identity = identity(expiresAt: expiresAt)
    let client = Bayeux(
      channel: "/sdk/apps/a/appusers/u1", ext: ["appId": "a", "appUserId": "u1", "jwt": "jwt-1"], timeout: 30,
      resuming: id)
    return MessagingConnection(
      peer, client, identity: identity, mode: "single", clock: WallClock(now: { now }, random: { 0.5 }), former: former)
  }

  @Test("A good connection that breaks leaves its client id to the next one of the same user and credential")
  func formerClient() async {
    let former = FormerClient()
    for isGood in [true, false] {
      let peer = MessagingPeer()
      peer.accept()
      if isGood { peer.say([["channel": "/meta/connect", "successful": true]]) }
      peer.fail(.network("gone"))
      guard case .lost = await end(of: Self.connection(peer, former: former)) else {
        Issue.record("not lost")
        return
      }
      #expect(former.take(for: Self.identity()) == (isGood ? "c1" : nil))
      #expect(former.take(for: Self.identity()) == nil, "it serves once")
    }
    former.keep("c1", for: Self.identity(), isKnown: true)
    #expect(former.take(for: Self.identity(Secret("jwt-2"))) == nil)
  }

  @Test("A client id is kept while resuming connections break, but not for ever")
  func brokenResumptions() async {
    let former = FormerClient()
    former.keep("c1", for: Self.identity(), isKnown: true)
    for attempt in 1...FormerClient.maximumFailures {
      let peer = MessagingPeer()
      peer.fail(.network("gone"))
      #expect(former.take(for: Self.identity()) == "c1")
      guard case .lost = await end(of: Self.connection(peer, former: former, resuming: "c1")) else {
        Issue.record("attempt \(attempt) is not lost")
        return
      }
    }
    #expect(former.take(for: Self.identity()) == nil)
  }

  @Test("A message over the bound is said to be lost")
  func tooLarge() async {
    #expect(SocketLimits().message == 4 << 20)
    let peer = MessagingPeer()
    peer.accept()
    peer.fail(.tooLarge)
    guard case .lost(let error) = await end(of: Self.connection(peer)) else {
      Issue.record("not lost")
      return
    }
    #expect(error.reason == .badResponse)
    #expect(error.message.contains("more than 4 MiB") && error.message.contains("lost"))
  }

  private func end(of connection: MessagingConnection) async -> RealtimeEnd { await connection.run { _ in } }

  @Test func `It shows the credential with the subscription and tells when the vendor knows the user`() async {
    let peer = MessagingPeer()
    let heard = Mutex<[String]>([])
    peer.accept()
    let connection = Self.connection(peer)
    let end = await connection.run { news in
      if case .connected = news {
        heard.withLock { $0.append("connected") }
        peer.say([
          [
            "channel": "/sdk/apps/a/appusers/u1",
            "data": ["events": [["type": "user:merge", "survivingAppUser": ["_id": "u2"]]]],
          ]
        ])
      }
      if case .merged(let merge, _, _, _) = news {
        heard.withLock { $0.append(merge.to) }
        peer.hangUp()
      }
    }
    #expect(heard.withLock { $0 } == ["connected", "u2"])
    guard case .lost = end else {
      Issue.record("\(end)")
      return
    }
    #expect(peer.channels.prefix(3) == ["/meta/handshake", "/meta/subscribe", "/meta/connect"])
    let subscription = peer.sent.first { $0["channel"] == "/meta/subscribe" }
    #expect(subscription?["ext"] == ["appId": "a", "appUserId": "u1", "jwt": "jwt-1"])
  }

  private static func refusal(_ error: String) -> JSON {
    [["channel": "/meta/subscribe", "successful": false, "error": .string(error)]]
  }

  @Test(arguments: [
    ("403::Invalid JWT", false, "invalidAuth"), ("401::No", true, "expiredJWT"), ("", false, "invalidAuth"),
  ])
  func `A refused subscription is a refusal of the credential`(
    error: String, hasExpired: Bool, reason: String
  ) async throws {
    let peer = MessagingPeer()
    let connection = Self.connection(peer, expiresAt: hasExpired ? Self.now : nil)
    peer.say([
      ["channel": "/meta/handshake", "successful": true, "clientId": "c1"]
    ])
    peer.say(Self.refusal(error))
    guard case .refused(let refusal) = await end(of: connection) else {
      Issue.record("not refused")
      return
    }
    #expect(refusal.origin == .vendor)
    #expect(refusal.reason.rawValue == reason)
    #expect(!"\(refusal)".contains("jwt-1"))
  }

  @Test func `A server that is ill refuses nobody`() async {
    let peer = MessagingPeer()
    peer.say([["channel": "/meta/handshake", "successful": true, "clientId": "c1"]])
    peer.say(Self.refusal("503::Overloaded"))
    guard case .lost(let error) = await end(of: Self.connection(peer)) else {
      Issue.record("not lost")
      return
    }
    #expect(error.reason == .serverError)
  }

  @Test func `What breaks is lost, with the vendor's wish when to come back`() async {
    let broken = MessagingPeer()
    broken.fail(.network("gone"))
    guard case .lost(let error) = await end(of: Self.connection(broken)) else {
      Issue.record("not lost")
      return
    }
    #expect(error.reason == .network)
    let unsendable = MessagingPeer()
    unsendable.failSending(.network("gone"))
    guard case .lost = await end(of: Self.connection(unsendable)) else {
      Issue.record("not lost")
      return
    }
    let nonsense = MessagingPeer()
    nonsense.sayText("no JSON")
    guard case .lost = await end(of: Self.connection(nonsense)) else {
      Issue.record("not lost")
      return
    }
    let busy = MessagingPeer()
    busy.say([
      [
        "channel": "/meta/handshake", "successful": true, "clientId": "c1",
        "supportedConnectionTypes": ["long-polling"],
        "advice": ["interval": 30_000],
      ]
    ])
    guard case .lost(let wait) = await end(of: Self.connection(busy)) else {
      Issue.record("not lost")
      return
    }
    #expect(wait.retryAfter == 30)
  }

  @Test func `A server that closes the socket is not tried again before its advised interval`() async {
    let peer = MessagingPeer()
    peer.say([
      ["channel": "/meta/handshake", "successful": false, "advice": ["reconnect": "handshake", "interval": 60_000]]
    ])
    peer.fail(.network("gone"))
    guard case .lost(let error) = await end(of: Self.connection(peer)) else {
      Issue.record("not lost")
      return
    }
    #expect(error.reason == .network)
    #expect(error.retryAfter == 60)
  }

  @Test func `A server that wants nobody back is left alone`() async {
    let peer = MessagingPeer()
    peer.say([["channel": "/meta/handshake", "successful": false, "advice": ["reconnect": "none"]]])
    #expect(await end(of: Self.connection(peer)) == .ended)
  }

  @Test func `Closing says goodbye and ends the run`() async throws {
    let peer = MessagingPeer()
    let connection = Self.connection(peer)
    peer.accept()
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        _ = await connection.run { news in
          if case .connected = news { await connection.close() }
        }
      }
      await group.waitForAll()
    }
    #expect(peer.isClosed)
    #expect(peer.channels.last == "/meta/disconnect")
  }

  /// The peer reads nothing as long as the test runs.
  @Test(.timeLimit(.minutes(1))) func `Nobody waits for a peer that takes no goodbye`() async {
    let peer = MessagingPeer()
    let connection = Self.connection(peer)
    peer.accept()
    _ = await connection.run { news in
      guard case .connected = news else { return }
      peer.stopReading()
      await connection.close()
    }
    #expect(peer.isClosed)
  }

  @Test func `A cancelled run ends`() async {
    let peer = MessagingPeer()
    let connection = Self.connection(peer)
    let end = await withTaskGroup(of: RealtimeEnd.self) { group in
      group.addTask { await connection.run { _ in } }
      group.cancelAll()
      return await group.next()
    }
    guard case .lost? = end else {
      Issue.record("\(String(describing: end))")
      return
    }
  }
}
