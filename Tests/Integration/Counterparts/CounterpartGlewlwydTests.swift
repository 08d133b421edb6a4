import Foundation
import Glibc
import JSONRPC
import Testing

/// Refresh tokens that glewlwyd, a third-party OAuth 2 server, rotates.
@Suite(.serialized) struct CounterpartGlewlwydTests {
  /// Expects that no refresh token was presented after its successor was, and none more than three times. The three are
  /// the request that a crash cut off, the one attempt after it, and one more because glewlwyd's refusals are empty, as
  /// a proxy's may be.
  private func expectOrder(_ presentations: [GlewlwydDesk.Presentation]) {
    var latest: [String: Int] = [:]
    for (index, presentation) in presentations.enumerated() {
      if let former = latest[presentation.token] {
        let between = Set(presentations[former..<index].map(\.token))
        #expect(between == [presentation.token], "a spent token came back after its successor")
      }
      latest[presentation.token] = index
    }
    for token in latest.keys { #expect(presentations.count { $0.token == token } <= 3) }
  }

  @Test("Each refresh presents the newest token once, also across crashes and with many callers")
  func rotation() throws {
    let desk = try GlewlwydDesk()
    let first = try desk.signIn()
    for round in 1...4 {
      let ids = (0..<20).map { _ in desk.service.line.begin("token.refresh", desk.service.params()) }
      for id in ids { #expect(try desk.service.line.answer(id)["error"] == nil) }
      if round.isMultiple(of: 2) { try desk.service.crash() }
    }
    let presented = desk.presentations
    #expect(presented.first?.token == first)
    #expect(presented.count >= 4)
    #expect(Set(presented.map(\.token)).count == presented.count)
    #expect(presented.allSatisfy { $0.status == 200 })
    #expect(try desk.service.events("authenticationFailed", "userLoggedOut").isEmpty)
    for token in presented.map(\.token) { #expect(!desk.service.desk.logs.contains(token)) }
  }

  @Test("After somebody else used the refresh token, the grant's end is told and the token rests")
  func reuse() throws {
    let desk = try GlewlwydDesk()
    let first = try desk.signIn()
    let stolen = try #require(try desk.steal(first))
    var reasons: [String] = []
    for _ in 1...4 {
      let answer = try desk.service.line.answer(desk.service.line.begin("token.refresh", desk.service.params()))
      reasons.append(answer["error"]?["data"]?["reason"]?.stringValue ?? "none")
    }
    #expect(desk.presentations == Array(repeating: .init(token: first, status: 400), count: 2))
    // An empty refusal may be a proxy's mistake once; the second is final.
    #expect(reasons.first == "badResponse")
    #expect(!reasons.contains("none"), "\(reasons)")
    #expect(try desk.service.events("authenticationFailed", "userLoggedOut").count >= 1)
    #expect(try desk.steal(stolen) == nil, "glewlwyd must have ended the grant")
    try desk.signIn()
    #expect(try desk.service.refresh()["fromCache"] == false)
  }

  @Test("Logout revokes the refresh token at glewlwyd, also when a crash comes first")
  func revocation() throws {
    let desk = try GlewlwydDesk()
    let first = try desk.signIn()
    _ = try desk.service.refresh()
    desk.wire.kill()
    try desk.service.set(.null)
    try desk.service.crash()
    try desk.wire.start()
    try eventually("the token is revoked", within: 60) {
      desk.wire.requests.contains { $0["uri"] == "/services/oauth2/revoke" && $0["status"] == 200 }
    }
    let body = desk.wire.requests.last { $0["uri"] == "/services/oauth2/revoke" }?["body"]?.stringValue
    let field = try #require(body?.split(separator: "&").first { $0.hasPrefix("token=") })
    let revoked = String(field.dropFirst("token=".count))
    #expect(revoked != first, "the newest token is the one to revoke")
    #expect(try desk.steal(revoked) == nil)
  }

  @Test("A daemon that is killed before the request arrives keeps the session with one attempt")
  func killedBeforeTheRequest() throws {
    let desk = try GlewlwydDesk()
    let first = try desk.signIn()
    let hole = try RawHTTP.freePort()
    defer { close(hole.holder) }
    listen(hole.holder, 8)
    try desk.rewire(to: hole.port)
    desk.service.line.begin("token.refresh", desk.service.params())
    try eventually("the request is on its way") {
      var poller = pollfd(fd: hole.holder, events: Int16(POLLIN), revents: 0)
      return poll(&poller, 1, 0) > 0
    }
    desk.service.desk.killDaemon()
    try desk.rewire()
    try desk.service.crash()
    #expect(try desk.outcome(after: 0) == .kept)
    let reached = desk.presentations.filter { $0.status != 499 }
    #expect(reached.first == .init(token: first, status: 200))
    #expect(Set(reached.map(\.token)).count == reached.count)
  }

  @Test("An answer that never arrives whole loses the session, and the user is told", arguments: [true, false])
  func lostAnswer(isKilled: Bool) throws {
    let desk = try GlewlwydDesk()
    let first = try desk.signIn()
    try desk.rewire("limit_rate 30;")
    let issued = desk.issued
    desk.service.line.begin("token.refresh", desk.service.params())
    try eventually("glewlwyd has rotated the token") { desk.issued > issued }
    if isKilled { desk.service.desk.killDaemon() }
    try desk.rewire()
    if isKilled { try desk.service.crash() }
    #expect(try desk.outcome(after: 0) == .told)
    #expect(desk.presentations.count { $0.token == first && $0.status == 400 } <= 2)
    expectOrder(desk.presentations.filter { $0.status == 400 })
    try desk.signIn()
    #expect(try desk.service.refresh()["fromCache"] == false)
  }

  @Test("A caller who got the answer finds the session again after a crash")
  func killedAfterTheAnswer() throws {
    let desk = try GlewlwydDesk()
    try desk.signIn()
    for _ in 1...3 {
      let token = try desk.service.refresh()["token"]
      desk.service.desk.killDaemon()
      try desk.service.crash()
      #expect(try desk.service.token()["token"] == token)
    }
    #expect(try desk.outcome(after: 0) == .kept)
    #expect(Set(desk.presentations.map(\.token)).count == desk.presentations.count)
  }

  @Test("A crash at any moment keeps the session or tells of its loss")
  func killedAnywhere() throws {
    let desk = try GlewlwydDesk()
    try desk.signIn()
    for round in 0..<6 {
      let losses = try desk.losses()
      desk.service.line.begin("token.refresh", desk.service.params())
      usleep(UInt32(round) * 8000)
      desk.service.desk.killDaemon()
      try desk.service.crash()
      if try desk.outcome(after: losses) == .told { try desk.signIn() }
    }
    expectOrder(desk.presentations)
  }
}
