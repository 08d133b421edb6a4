import Foundation
import SDKClientTesting
import Synchronization
import Testing

/// The Swift snippets of `app-guide.md` and of the reference, run unchanged.
struct GuideTests {
  private let daemon = ScriptedDaemon()
  private let desk: InstanceID
  private let shown = Shown()

  /// The lines that the snippets show.
  private final class Shown: Sendable {
    let lines = Mutex<[String]>([])
  }

  init() throws {
    desk = try #require(InstanceID("front-desk"))
    daemon.on(SessionOpen.self) { _ in
      Session(
        user: User(externalId: "alice", authenticationType: .jwt, authenticated: true, verified: true),
        token: try Self.token, visible: true, history: false, mayMerge: false, storageEpoch: "1")
    }
    daemon.on(TokenGet.self) { _ in try Self.token }
    daemon.on(TokenReject.self) { _ in Empty() }
  }

  private static var token: Token {
    get throws {
      Token(
        token: Secret("s3cret"), tokenId: TokenID(Secret("s3cret")), tokenType: .jwt, expiresAt: nil, ttl: nil,
        fromCache: true, stale: false,
        http: TokenHTTP(headers: ["Authorization": Secret("Bearer s3cret")], cookies: [:]))
    }
  }

  private func show(_ line: String, _ headers: [String: Secret] = [:]) {
    shown.lines.withLock { $0.append(([line] + headers.keys.sorted()).joined(separator: " ")) }
  }

  private func update() async throws { show("updated") }

  private func mint(_ user: String) async throws -> String { "t-\(user)" }

  @Test func opening() async throws {
    let client = daemon.client()
    let session = try await client.call(SessionOpen.self, .init(instance: desk, minTTL: Seconds(30)))
    if session.visible, let token = session.token {
      show(session.user.externalId ?? "a guest", token.http?.headers ?? [:])
    }
    #expect(shown.lines.withLock { $0 } == ["alice Authorization"])
  }

  @Test(arguments: [true, false]) func currentUser(isSignedIn: Bool) async throws {
    daemon.on(InstanceCurrentUser.self) { _ in Self.alice(isSignedIn: isSignedIn) }
    let client = daemon.client()
    let user = try await client.call(InstanceCurrentUser.self, .init(instance: desk))
    show(user.authenticated ? user.externalId ?? "signed in" : "please sign in")
    #expect(shown.lines.withLock { $0 } == [isSignedIn ? "alice" : "please sign in"])
  }

  private static func alice(isSignedIn: Bool = true) -> User {
    User(
      externalId: isSignedIn ? "alice" : nil, authenticationType: isSignedIn ? .jwt : .unauthenticated,
      authenticated: isSignedIn, verified: isSignedIn)
  }

  private struct UserChanged: Error {}

  func fetch(_ client: SDKClient, _ send: (TokenHTTP?) async throws -> Int) async throws -> Int {
    let wanted = TokenGet.Params(instance: desk, minTTL: Seconds(30), http: true)
    let user = try await client.call(InstanceCurrentUser.self, .init(instance: desk))
    for _ in 0..<2 {
      let token: Token
      do {
        token = try await client.call(TokenGet.self, wanted)
      } catch let error as SDKClientError where error.refusal == .providerBackoff {
        guard let pause = error.retryAfter, pause <= .seconds(10) else { throw error }
        try await Task.sleep(for: pause)
        token = try await client.call(TokenGet.self, wanted)
      }
      let now = try await client.call(InstanceCurrentUser.self, .init(instance: desk))
      guard now.id == user.id, now.externalId == user.externalId, now.since == user.since else { throw UserChanged() }
      let status = try await send(token.http)
      if status != 401 { return status }
      _ = try await client.call(TokenReject.self, .init(instance: desk, tokenId: token.tokenId, status: status))
    }
    return 401
  }

  @Test func `A refused request is sent once more with a token that was asked for again`() async throws {
    daemon.on(InstanceCurrentUser.self) { _ in Self.alice() }
    let statuses = Mutex([401, 200])
    let status = try await fetch(daemon.client()) { _ in statuses.withLock { $0.removeFirst() } }
    #expect(status == 200)
    #expect(try daemon.calls(of: TokenReject.self).map(\.status) == [401])
    #expect(try daemon.calls(of: TokenGet.self).count == 2)
  }

  @Test func `A request waits once for the interval between two renewals`() async throws {
    daemon.on(InstanceCurrentUser.self) { _ in Self.alice() }
    let pauses = Mutex([0.01, 60])
    daemon.on(TokenGet.self) { _ in
      guard let pause = pauses.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return try Self.token }
      throw SDKError(.provider, .providerBackoff, "Not yet.", retryAfter: pause)
    }
    // The second refusal, after the pause, is thrown. So is a long pause.
    await #expect(throws: SDKClientError.self) { try await fetch(daemon.client()) { _ in 200 } }
    #expect(try daemon.calls(of: TokenGet.self).count == 2)
    pauses.withLock { $0 = [60] }
    await #expect(throws: SDKClientError.self) { try await fetch(daemon.client()) { _ in 200 } }
    pauses.withLock { $0 = [0.01] }
    #expect(try await fetch(daemon.client()) { _ in 200 } == 200)
    #expect(try daemon.calls(of: TokenGet.self).count == 5)
  }

  @Test func `A refused request is not sent again for another user`() async throws {
    let isSignedIn = Mutex(true)
    daemon.on(InstanceCurrentUser.self) { _ in Self.alice(isSignedIn: isSignedIn.withLock { $0 }) }
    await #expect(throws: UserChanged.self) {
      try await fetch(daemon.client()) { _ in
        show("sent")
        isSignedIn.withLock { $0 = false }
        return 401
      }
    }
    #expect(shown.lines.withLock { $0 } == ["sent"])
  }

  @Test func kindsMethods() async throws {
    daemon.on("messaging.loginUser") { _ in [:] }
    let (client, jwt) = (daemon.client(), "a.b.c")
    _ = try await client.call("messaging.loginUser", ["instance": "front-desk", "jwt": .string(jwt)])
    #expect(daemon.calls.first?.params == ["instance": "front-desk", "jwt": "a.b.c"])
  }

  @Test(arguments: [true, false]) func errors(isLost: Bool) async throws {
    daemon.on(StoragePut.self) { [daemon] _ in
      guard isLost else { throw SDKError(.state, .notAuthenticated, "Nobody is signed in.") }
      daemon.drop()
      try await Task.sleep(for: .seconds(600))
      return Empty()
    }
    daemon.on(StorageGet.self) { _ in .init(value: ["text": "Hello"], storageEpoch: "1") }
    let client = daemon.client()
    do {
      _ = try await client.call(StoragePut.self, .init(instance: desk, key: "draft", value: ["text": "Hello"]))
    } catch let error as SDKClientError where error.mayHaveRun {
      // The connection ended, or the time was over, without an answer.
      let kept = try await client.call(StorageGet.self, .init(instance: desk, key: "draft")).value
      show(kept == ["text": "Hello"] ? "kept" : "not kept")
    } catch let error as SDKClientError {
      switch error.refusal {
      case .notAuthenticated, .reauthNeeded: show("please sign in")
      case .rateLimit: try await Task.sleep(for: error.retryAfter ?? .seconds(1))
      default: show(error.description)
      }
    }
    #expect(shown.lines.withLock { $0 } == [isLost ? "kept" : "please sign in"])
  }

  @Test func events() async throws {
    let client = daemon.client()
    let first = daemon.emit(.userLoggedIn, desk)
    daemon.forgetEvents()
    let follower = Task {
      var savedCursor: String? = first.cursor
      for try await item in client.events(EventFilter(instances: [desk]), since: savedCursor) {
        switch item {
        case .event(let event):
          show(event.type.rawValue)
          savedCursor = event.cursor
        case .unknown: break  // Of a later version.
        case .gap(_, let resume):
          // Some were missed: read the state again. The next item continues from `resume`.
          try await update()
          savedCursor = resume
        }
      }
    }
    try await daemon.waitForCalls(of: "events.resume")
    daemon.emit(.tokenRefreshed, desk)
    while shown.lines.withLock({ $0.count }) < 2 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(shown.lines.withLock { $0 } == ["updated", "tokenRefreshed"])
    follower.cancel()
    _ = await follower.result
  }

  @Test func delegates() async throws {
    let client = daemon.client()
    let attached = Mutex<DelegateAttachment?>(nil)
    let app = Task {
      let attachment = try await client.attach(to: [desk]) { question in
        guard let user = question.user?.externalId else { return .pass }
        return .token(Secret(try await mint(user)))
      }
      attached.withLock { $0 = attachment }
      for await status in attachment.statuses {
        switch status {
        case .attached: show("answering")
        case .detached(let error): show("coming back: \(error.reason)")
        case .ended(let error): show("over: \(error?.reason ?? "detached")")
        }
      }
    }
    #expect(try await daemon.ask(.getToken, desk, externalId: "alice") == ["token": "t-alice"])
    while attached.withLock({ $0 == nil }) { try await Task.sleep(for: .milliseconds(1)) }
    try await attached.withLock { $0 }?.detach()
    try await app.value
    #expect(shown.lines.withLock { $0 } == ["answering", "over: detached"])
  }

  @Test func testing() async throws {
    let daemon = ScriptedDaemon()
    daemon.on(TokenGet.self) { _ in throw SDKError(.state, .reauthNeeded, "Sign in again.") }
    let client = daemon.client()
    let error = await #expect(throws: SDKClientError.self) {
      try await client.call(TokenGet.self, .init(instance: desk))
    }
    #expect(error?.refusal == .reauthNeeded)
    #expect(try daemon.calls(of: TokenGet.self).map(\.instance) == [desk])
  }

  @Test("The reference's first snippet sends a request or asks to sign in", arguments: [true, false])
  func reference(isSignedIn: Bool) async throws {
    daemon.on(TokenGet.self) { _ in
      guard isSignedIn else { throw SDKError(.state, .notAuthenticated, "Nobody is signed in.") }
      return try Self.token
    }
    func request(with http: TokenHTTP?) async throws { show("sent", http?.headers ?? [:]) }
    let client = daemon.client()
    do {
      let token = try await client.call(TokenGet.self, .init(instance: desk, minTTL: Seconds(30), http: true))
      try await request(with: token.http)
    } catch let error as SDKClientError {
      switch error.refusal {
      case .notAuthenticated, .reauthNeeded: show("please sign in")
      default: show(error.description)
      }
    }
    #expect(shown.lines.withLock { $0 } == [isSignedIn ? "sent Authorization" : "please sign in"])
  }

  /// Checks that each line of the Swift snippets is also a line of this file, apart from indentation. The line
  /// `let client = SDKClient()` is exempt.
  @Test(arguments: [
    "Packaging/documentation/app-guide.md": 41, "Sources/SDKClient/SDKClient.docc/SDKClient.md": 8,
    "Sources/SDKClientTesting/SDKClientTesting.docc/SDKClientTesting.md": 7,
  ])
  func theGuideIsWhatIsRun(document: String, least: Int) throws {
    let file = URL(fileURLWithPath: #filePath)
    let root = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let guide = try String(contentsOf: root.appendingPathComponent(document), encoding: .utf8)
    let source = Set(
      try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { trimmed($0) })
    var isSwift = false
    var count = 0
    for line in guide.split(separator: "\n") {
      if line.hasPrefix("```") {
        isSwift = line == "```swift"
      } else if isSwift, line != "let client = SDKClient()" {
        count += 1
        #expect(source.contains(trimmed(line)), "not run: \(line)")
      }
    }
    #expect(count >= least)
  }

  private func trimmed(_ line: Substring) -> String { line.trimmingCharacters(in: .whitespaces) }
}
