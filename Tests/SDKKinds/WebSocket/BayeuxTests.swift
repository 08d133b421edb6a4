import JSONRPC
import Testing

@testable import SDKKinds

/// The Bayeux client, message by message.
@Suite struct BayeuxTests {
  private static let channel = "/sdk/apps/A/appusers/U"
  private var client = Bayeux(channel: channel, ext: ["appId": "A", "jwt": "t0p"], timeout: 10)

  /// Returns the only message of a frame.
  private func message(_ frame: String) throws -> JSON {
    let messages = try #require(try JSONParser.parse(frame).arrayValue)
    #expect(messages.count == 1)
    return try #require(messages.first)
  }

  private func channels(_ step: Bayeux.Step) throws -> [String?] {
    try step.frames.map { try message($0)["channel"]?.stringValue }
  }

  private mutating func receive(_ json: JSON, at now: Double) -> Bayeux.Step {
    client.take(.text(JSONWriter.text(of: json)), at: now)
  }

  private mutating func shakeHands(at now: Double = 0, advice: JSON = ["timeout": 30_000]) -> Bayeux.Step {
    _ = client.take(.opened, at: now)
    return receive(
      [
        [
          "channel": "/meta/handshake", "successful": true, "clientId": "c1", "advice": advice,
          "supportedConnectionTypes": ["long-polling", "websocket"],
        ]
      ], at: now)
  }

  private mutating func subscribe(at now: Double = 0) -> Bayeux.Step {
    _ = shakeHands(at: now)
    return receive(
      [["channel": "/meta/subscribe", "successful": true, "subscription": .string(Self.channel)]], at: now)
  }

  @Test("Handshake, then subscription with its ext and the first connect")
  mutating func beginning() throws {
    let opened = client.take(.opened, at: 5)
    let handshake = try message(try #require(opened.frames.first))
    #expect(handshake["channel"] == "/meta/handshake")
    #expect(handshake["version"] == "1.0")
    #expect(handshake["supportedConnectionTypes"] == ["websocket"])
    #expect(opened.wake == 15)
    let step = shakeHands(at: 6)
    #expect(try channels(step) == ["/meta/subscribe", "/meta/connect"])
    let subscription = try message(step.frames[0])
    #expect(subscription["clientId"] == "c1")
    #expect(subscription["subscription"] == .string(Self.channel))
    #expect(subscription["ext"] == ["appId": "A", "jwt": "t0p"])
    let connect = try message(step.frames[1])
    #expect(connect["connectionType"] == "websocket")
    #expect(connect["clientId"] == "c1")
    #expect(connect["advice"] == ["timeout": 0], "the first is answered at once")
    #expect(step.wake == 16)
    #expect(step.news.isEmpty)
    let subscribed = receive(["channel": "/meta/subscribe", "successful": true, "id": subscription["id"]!], at: 7)
    #expect(subscribed.news == [.subscribed])
    #expect(subscribed.wake == 51)
  }

  @Test("Events of the channel are news, those of others are not")
  mutating func events() {
    _ = subscribe()
    let step = receive(
      [
        ["channel": .string(Self.channel), "data": ["type": "user:merge"]], ["channel": "/other", "data": 1], 7,
        ["channel": "/meta/unheard"], ["channel": .string(Self.channel)],
      ], at: 1)
    #expect(step.news == [.event(["type": "user:merge"])])
    #expect(step.frames.isEmpty)
    #expect(receive([], at: 1).news.isEmpty)
  }

  @Test("A refused subscription says why and leaves")
  mutating func refused() throws {
    _ = shakeHands()
    let step = receive(
      [["channel": "/meta/subscribe", "successful": false, "error": "401:c1,/x:Invalid: JWT"]], at: 1)
    #expect(step.news == [.refused(code: "401", description: "Invalid: JWT")])
    #expect(try channels(step) == ["/meta/disconnect"])
    #expect(client.isOver && step.wake == nil)
    #expect(client.take(.timer, at: 99) == Bayeux.Step())
  }

  @Test(
    "Refusals in whatever words",
    arguments: [
      ("", nil, ""), ("just words", nil, "just words"), ("403", "403", ""), ("403::denied", "403", "denied"),
      ("403:denied", "403", "denied"), ("4031:a:b", nil, "4031:a:b"),
    ] as [(String, String?, String)])
  func errors(text: String, code: String?, description: String) {
    let error = BayeuxError(["error": .string(text)])
    #expect(error.code == code)
    #expect(error.description == description)
  }

  @Test("The words of an error have at most 512 bytes")
  func longErrors() {
    let tall = "a" + String(repeating: "\u{301}", count: 2000)
    #expect(BayeuxError(["error": .string("402::\(tall)")]).description.utf8.count <= 512)
    #expect(BayeuxError(["error": .string(tall)]).description.utf8.count <= 512)
  }

  @Test("Connects follow each other by the advised interval")
  mutating func loop() throws {
    _ = subscribe()
    let answered = receive([["channel": "/meta/connect", "successful": true, "advice": ["interval": 5000]]], at: 30)
    #expect(answered.frames.isEmpty)
    #expect(answered.wake == 35)
    #expect(client.take(.timer, at: 34).frames.isEmpty)
    let again = client.take(.timer, at: 35)
    #expect(try channels(again) == ["/meta/connect"])
    #expect(again.wake == 80)
  }

  @Test("Without an interval the next connect goes at once, but never twice a second")
  mutating func pace() throws {
    _ = subscribe()
    let quick = receive([["channel": "/meta/connect", "successful": true]], at: 0.1)
    #expect(quick.frames.isEmpty)
    #expect(quick.wake == 1)
    _ = client.take(.timer, at: 1)
    #expect(try channels(receive([["channel": "/meta/connect", "successful": true]], at: 31)) == ["/meta/connect"])
  }

  @Test("Answers to other requests and unasked ones change nothing")
  mutating func strangers() {
    _ = subscribe()
    let stray = receive([["channel": "/meta/connect", "successful": true, "id": "999"]], at: 30)
    #expect(stray.frames.isEmpty)
    #expect(stray.wake == 45)
    #expect(receive([["channel": "/meta/handshake", "successful": false]], at: 30).news.isEmpty)
    #expect(receive([["channel": "/meta/subscribe", "successful": false]], at: 30).news.isEmpty)
  }

  @Test("Advice handshake begins anew and subscribes again, only so many times in a row")
  mutating func handshakeAdvice() throws {
    _ = subscribe()
    let lost: JSON = [
      [
        "channel": "/meta/connect", "successful": false, "error": "401:c1:Unknown client",
        "advice": ["reconnect": "handshake", "interval": 0],
      ]
    ]
    var now = 10.0
    for _ in 1..<Bayeux.maximumHandshakes {
      let step = receive(lost, at: now)
      #expect(step.news.isEmpty && step.wake == now + 1)
      now += 1
      #expect(try channels(client.take(.timer, at: now)) == ["/meta/handshake"])
      let hello = receive([["channel": "/meta/handshake", "successful": true, "clientId": "c2"]], at: now)
      #expect(try channels(hello) == ["/meta/subscribe", "/meta/connect"])
      #expect(receive([["channel": "/meta/subscribe", "successful": true]], at: now).news == [.subscribed])
    }
    _ = receive(lost, at: now)
    let over = client.take(.timer, at: now + 1)
    #expect(over.frames.isEmpty)
    #expect(over.news.last == .reconnectAdvice(.handshake, after: 0))
    #expect(client.isOver)
  }

  @Test(
    "A server that does not know the client gets a new handshake, even if it gives no advice",
    arguments: ["401:c1:Unknown client", "402:c1:Unknown client"])
  mutating func unknownClient(error: String) throws {
    _ = subscribe()
    _ = receive(["channel": "/meta/connect", "successful": true], at: 0)
    let refusal: JSON = ["channel": "/meta/connect", "successful": false, "error": .string(error)]
    _ = client.take(.timer, at: 2)
    let refused = receive(refusal, at: 3)
    #expect(refused.frames.isEmpty)
    #expect(refused.wake == 4)
    #expect(try channels(client.take(.timer, at: 4)) == ["/meta/handshake"])
  }

  @Test("An event that the server still delivers to the former client is taken until the next one has subscribed")
  mutating func eventBetweenHandshakes() throws {
    _ = subscribe(at: 0)
    let advised = receive(
      [["channel": "/meta/connect", "successful": true, "advice": ["reconnect": "handshake", "interval": 0]]], at: 1)
    #expect(advised.frames.isEmpty && advised.wake == 2)
    let event: JSON = [["channel": .string(Self.channel), "data": ["a": 1]]]
    #expect(receive(event, at: 1.5).news == [.event(["a": 1])], "while the handshake is due")
    #expect(try channels(client.take(.timer, at: 2)) == ["/meta/handshake"])
    #expect(receive(event, at: 2.5).news == [.event(["a": 1])], "while it is answered")
    _ = client.take(.closing, at: 3)
    #expect(receive(event, at: 3).news.isEmpty)
  }

  @Test("A connect that succeeds gives the handshakes back")
  mutating func handshakesGivenBack() throws {
    var now = 0.0
    _ = subscribe()
    for _ in 0..<10 {
      now += 30
      _ = receive([["channel": "/meta/connect", "successful": true]], at: now)
      _ = receive(
        [["channel": "/meta/connect", "successful": false, "advice": ["reconnect": "handshake"]]], at: now)
      now += 1
      #expect(try channels(client.take(.timer, at: now)) == ["/meta/handshake"])
      _ = receive(
        [
          ["channel": "/meta/handshake", "successful": true, "clientId": "c"],
          ["channel": "/meta/subscribe", "successful": true],
        ], at: now)
    }
    #expect(!client.isOver)
  }

  @Test("A connection counts as good after one answered connect, once for each handshake")
  mutating func settling() throws {
    _ = subscribe()
    #expect(client.resumable == nil)
    let first = receive([["channel": "/meta/connect", "successful": true]], at: 1)
    #expect(first.news == [.settled])
    #expect(client.resumable == "c1")
    let next = try message(try #require(first.frames.first))
    #expect(next["channel"] == "/meta/connect" && next["advice"] == nil)
    #expect(receive([["channel": "/meta/connect", "successful": true]], at: 30).news.isEmpty)
    // The response to the connect may also come before that to the subscription.
    client = Bayeux(channel: Self.channel, ext: [:], timeout: 10)
    _ = shakeHands()
    #expect(receive([["channel": "/meta/connect", "successful": true]], at: 1).news.isEmpty)
    #expect(receive([["channel": "/meta/subscribe", "successful": true]], at: 1).news == [.subscribed, .settled])
    _ = client.take(.closing, at: 2)
    #expect(client.resumable == nil)
  }

  @Test("A former client is resumed without a handshake and gets what the server has kept")
  mutating func resuming() throws {
    client = Bayeux(channel: Self.channel, ext: ["jwt": "t0p"], timeout: 10, resuming: "c0")
    let step = client.take(.opened, at: 0)
    #expect(try channels(step) == ["/meta/subscribe", "/meta/connect"])
    #expect(try message(step.frames[0])["ext"] == ["jwt": "t0p"])
    #expect(try step.frames.map { try message($0)["clientId"] } == ["c0", "c0"])
    let answered = receive(
      [
        ["channel": .string(Self.channel), "data": 1], ["channel": "/meta/subscribe", "successful": true],
        ["channel": "/meta/connect", "successful": true],
      ], at: 1)
    #expect(answered.news == [.event(1), .subscribed, .settled])
    #expect(client.resumable == "c0")
  }

  @Test("A former client can be resumed again after a break, but not after silence")
  mutating func brokenResumption() {
    client = Bayeux(channel: Self.channel, ext: [:], timeout: 10, resuming: "c0")
    _ = client.take(.opened, at: 0)
    #expect(client.resumable == "c0" && client.isResuming)
    _ = client.take(.timer, at: 11)
    #expect(client.isOver)
    #expect(client.resumable == nil)
  }

  @Test(
    "A server that has forgotten the former client gets a new handshake, and refuses nobody by that",
    arguments: [
      ["channel": "/meta/subscribe", "successful": false, "error": "401:c0:Unknown client"],
      ["channel": "/meta/subscribe", "successful": false, "advice": ["reconnect": "handshake"]],
      ["channel": "/meta/connect", "successful": false, "error": "401:c0:Unknown client"],
      ["channel": "/meta/connect", "successful": false, "advice": ["reconnect": "handshake", "interval": 0]],
    ] as [JSON])
  mutating func forgotten(answer: JSON) throws {
    client = Bayeux(channel: Self.channel, ext: [:], timeout: 10, resuming: "c0")
    _ = client.take(.opened, at: 0)
    let step = receive([answer], at: 1)
    #expect(step.news.isEmpty)
    #expect(try channels(step) == ["/meta/handshake"])
    #expect(client.resumable == nil)
    #expect(receive([answer], at: 1) == receive([], at: 1), "the answer to the other request changes nothing")
    let hello = receive([["channel": "/meta/handshake", "successful": true, "clientId": "c1"]], at: 2)
    #expect(try channels(hello) == ["/meta/subscribe", "/meta/connect"])
    let refused = receive([["channel": "/meta/subscribe", "successful": false, "error": "403::No"]], at: 3)
    #expect(refused.news == [.refused(code: "403", description: "No")])
  }

  @Test("Advice none ends it")
  mutating func noneAdvice() {
    _ = subscribe()
    let step = receive(
      [["channel": "/meta/connect", "successful": false, "error": "403::no", "advice": ["reconnect": "none"]]], at: 9)
    #expect(
      step.news == [
        .failed("the server ends the connection: 403 no"), .reconnectAdvice(.none, after: 0),
      ])
    #expect(client.isOver)
  }

  @Test("Missing answers fail when their time is over")
  mutating func silence() {
    _ = client.take(.opened, at: 0)
    #expect(client.take(.timer, at: 9.9).news.isEmpty)
    #expect(client.take(.timer, at: 10).news.first == .failed("no answer to the handshake"))
    client = Bayeux(channel: Self.channel, ext: [:], timeout: 10)
    _ = shakeHands()
    #expect(client.take(.timer, at: 10).news.first == .failed("no answer to the subscription"))
    client = Bayeux(channel: Self.channel, ext: [:], timeout: 10)
    _ = subscribe()
    #expect(client.take(.timer, at: 44).news.isEmpty)
    #expect(client.take(.timer, at: 45).news.first == .failed("no answer to the connect request"))
  }

  @Test("A refused handshake is repeated when the server says so, else a failure")
  mutating func refusedHandshake() throws {
    _ = client.take(.opened, at: 0)
    let wait = receive(
      [["channel": "/meta/handshake", "successful": false, "advice": ["reconnect": "retry", "interval": 2000]]], at: 1)
    #expect(wait.news.isEmpty && wait.wake == 3)
    #expect(try channels(client.take(.timer, at: 3)) == ["/meta/handshake"])
    let end = receive([["channel": "/meta/handshake", "successful": false, "error": "501:x:No"]], at: 4)
    #expect(end.news.first == .failed("the server refused the handshake: 501 No"))
  }

  static let useless: [JSON] = [
    ["channel": "/meta/handshake", "successful": true],
    ["channel": "/meta/handshake", "successful": true, "clientId": ""],
    ["channel": "/meta/handshake", "successful": true, "clientId": 7],
    ["channel": "/meta/handshake", "successful": true, "clientId": .string(String(repeating: "x", count: 257))],
    ["channel": "/meta/handshake", "successful": true, "clientId": "c", "supportedConnectionTypes": ["long-polling"]],
  ]

  @Test("A handshake without what we need is a failure", arguments: useless)
  mutating func uselessHandshake(answer: JSON) {
    _ = client.take(.opened, at: 0)
    let step = receive(answer, at: 0)
    if case .failed? = step.news.first {} else { Issue.record("\(step.news)") }
    #expect(step.frames.isEmpty)
  }

  @Test(
    "Advice stays within bounds, whatever a server says",
    arguments: [
      ["interval": -1, "timeout": 0, "reconnect": "sideways"], ["interval": 1e300, "timeout": 1e300, "reconnect": 7],
      ["interval": "soon", "timeout": nil], 7, [],
    ] as [JSON])
  func adviceBounds(json: JSON) {
    var advice = BayeuxAdvice()
    advice.update(json)
    #expect(advice.reconnect == .retry)
    #expect((0...60).contains(advice.interval))
    #expect((1...300).contains(advice.timeout))
  }

  @Test("Something that is not JSON is a failure")
  mutating func notJSON() {
    _ = subscribe()
    let step = client.take(.text("<html>"), at: 1)
    #expect(
      step.news == [
        .failed("the server sent something that is not JSON"), .reconnectAdvice(.retry, after: 0),
      ])
  }

  @Test("Leaving says so and ends it; before the handshake there is nothing to say")
  mutating func leaving() throws {
    let early = client.take(.closing, at: 0)
    #expect(early == Bayeux.Step() && client.isOver)
    client = Bayeux(channel: Self.channel, ext: [:])
    _ = subscribe()
    let step = client.take(.closing, at: 1)
    #expect(try channels(step) == ["/meta/disconnect"])
    #expect(try message(step.frames[0])["clientId"] == "c1")
    #expect(receive([["channel": .string(Self.channel), "data": 1]], at: 2) == Bayeux.Step())
  }

  @Test("Its description holds no credentials")
  func description() {
    #expect(!"\(client) \(String(reflecting: client))".contains("t0p"))
  }
}
