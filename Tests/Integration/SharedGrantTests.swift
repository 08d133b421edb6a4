import Foundation
import JSONRPC
import Testing

/// A Salesforce grant that was used once and is set again, on the same or on another service, while the daemon still
/// has to end it at the vendor. A service that holds the grant keeps it.
@Suite struct SharedGrantTests {
  /// The way in which a service gets the grant again.
  enum Login: String, CaseIterable, Sendable {
    /// Settings that name their user, so that no request is made.
    case named
    /// Settings without a name, in place of another user's: the vendor is asked whose they are.
    case unnamed
    /// Settings that the token provider gives a guest: they are shown to the vendor.
    case provided
  }

  /// The service that gets the grant again, and the way.
  struct Order: Sendable, CustomTestStringConvertible {
    let service: String
    let login: Login

    static let all = ["chat", "cases"].flatMap { service in Login.allCases.map { Order(service: service, login: $0) } }
    var testDescription: String { "\(login.rawValue) on \(service)" }
  }

  private func desk(_ client: String = ServiceDesk.demo) throws -> ServiceDesk {
    let script = "case $SDKD_QUESTION in shouldAuthenticate) cat answer ;; *) echo '{\"proceed\": false}' ;; esac"
    return try ServiceDesk(client: client, provider: script)
  }

  private func script(_ desk: ServiceDesk, _ route: JSON, _ more: JSONObject) throws {
    let base: JSONObject = ["route": route]
    try desk.vendor.script(.object(base.merged(with: more)))
  }

  private func pending(_ desk: ServiceDesk) throws -> [JSON] {
    try desk.line.call("instance.get", ["instance": "desk"])["pending"]?.arrayValue ?? []
  }

  /// Prepares a login on a service, so that only `setAgain` is left to do.
  private func prepare(_ order: Order, _ grant: JSON, on desk: ServiceDesk) throws {
    switch order.login {
    case .named: break
    case .unnamed: try desk.signIn("carol", order.service)
    case .provided: try desk.writeAnswer(grant)
    }
  }

  /// Sets the grant again. The vendor's answer to a question about it takes `delay` milliseconds.
  ///
  /// - Returns: the reason of the refusal; `nil` for a service that is signed in with the grant.
  private func setAgain(_ order: Order, _ grant: JSON, delay: Int, on desk: ServiceDesk) throws -> String? {
    let settings = try #require(ServiceDesk.settings(grant).objectValue)
    if delay > 0, order.login != .named {
      try script(desk, ServiceDesk.userInfo, ["delayMs": JSON(delay), "passThrough": true])
    }
    switch order.login {
    case .named, .unnamed:
      var given = settings
      if order.login == .unnamed { given["identityUrl"] = nil }
      let method = "serviceChat.setAuthenticationSettings"
      let answer = try desk.line.answer(
        desk.line.begin(method, desk.params(order.service, ["settings": .object(given)])))
      return answer["error"]?["data"]?["reason"]?.stringValue
    case .provided:
      let token = try desk.open(order.service)["token"]?["token"]
      return token == settings["accessToken"] ? nil : "guest"
    }
  }

  private func ended(_ user: String, _ desk: ServiceDesk) throws -> [JSON] {
    try desk.grants().filter { $0["user"]?.stringValue == user }.map { $0["ended"] ?? .null }
  }

  @Test("A pending revocation waits for the login that sets its grant again, on each service", arguments: Order.all)
  func R16_aPendingRevocationWaitsForALoginWithItsGrant(order: Order) throws {
    let desk = try desk()
    let bob = try desk.grant("bob")
    try desk.set(ServiceDesk.settings(bob))
    try script(desk, "/services/oauth2/revoke", ["status": 503])
    try desk.set(.null)
    try eventually("the revocation has failed") { try pending(desk).first?["attempts"] == 1 }
    try prepare(order, bob, on: desk)
    // The revocation is due within two seconds.
    #expect(try setAgain(order, bob, delay: 2500, on: desk) == nil)
    try eventually("nothing is left to do") { try pending(desk).isEmpty }
    #expect(try ended("bob", desk) == [.null])
    #expect(try desk.refresh(order.service)["fromCache"] == false)
  }

  @Test("A pending revocation of a rotated token knows its grant's former tokens, too", arguments: ["chat", "cases"])
  func R16_aPendingRevocationKnowsTheFormerTokensOfItsGrant(service: String) throws {
    let desk = try desk(ServiceDesk.rotating)
    let bob = try desk.signIn("bob", "chat", ["client_id": .string(ServiceDesk.rotating)])
    for _ in 0..<12 { #expect(try desk.refresh()["fromCache"] == false) }
    try script(desk, "/services/oauth2/revoke", ["status": 503])
    try desk.set(.null)
    try eventually("the revocation has failed") { try pending(desk).first?["attempts"] == 1 }
    try desk.set(ServiceDesk.settings(bob), service)
    #expect(try pending(desk).isEmpty)
    #expect(try ended("bob", desk) == [.null])
    #expect(try desk.open(service)["token"]?["token"] == bob["access_token"])
  }

  @Test("A login waits for the revocation of its grant that is on its way, and is then refused", arguments: Order.all)
  func R16_aLoginWaitsForTheRevocationOfItsGrantOnItsWay(order: Order) throws {
    let desk = try desk()
    let bob = try desk.grant("bob")
    try desk.set(ServiceDesk.settings(bob))
    try script(desk, "/services/oauth2/revoke", ["delayMs": 1500, "passThrough": true])
    try desk.set(.null)
    try eventually("the revocation is on its way") { try desk.vendor.count("POST", "/revoke") == 1 }
    try prepare(order, bob, on: desk)
    let former = try desk.user(order.service)
    let refusal = try setAgain(order, bob, delay: 0, on: desk)
    #expect(refusal == (order.login == .provided ? "guest" : "invalidGrant"))
    #expect(try desk.revocations().count == 1)
    #expect(try ended("bob", desk) == ["revoked by the client"])
    #expect(try desk.user(order.service) == former)
  }

  @Test("A login waits for a revocation on its way that fails, and keeps its grant", arguments: Order.all)
  func R16_aLoginWaitsForARevocationOfItsGrantThatFails(order: Order) throws {
    let desk = try desk()
    let bob = try desk.grant("bob")
    try desk.set(ServiceDesk.settings(bob))
    try script(desk, "/services/oauth2/revoke", ["delayMs": 1500, "status": 503])
    try desk.set(.null)
    try eventually("the revocation is on its way") { try desk.vendor.count("POST", "/revoke") == 1 }
    try prepare(order, bob, on: desk)
    #expect(try setAgain(order, bob, delay: 0, on: desk) == nil)
    try eventually("nothing is left to do") { try pending(desk).isEmpty }
    #expect(try ended("bob", desk) == [.null])
    #expect(try desk.refresh(order.service)["fromCache"] == false)
  }

  @Test("Undoing a late refresh keeps a grant that another service gets meanwhile", arguments: Login.allCases)
  func R16_undoingALateRefreshKeepsAGrantOfAnotherService(login: Login) throws {
    let desk = try desk(ServiceDesk.rotating)
    let alice = try desk.signIn("alice", "chat", ["client_id": .string(ServiceDesk.rotating)])
    let order = Order(service: "cases", login: login)
    try prepare(order, alice, on: desk)
    try desk.scriptTokens(["delayMs": 1200, "passThrough": true])
    let other = try desk.desk.connect()
    other.begin("token.refresh", desk.params())
    try eventually("the refresh is on its way") { try desk.refreshes() == 1 }
    // The revocation of the switch itself waits, and is dropped when the tokens are set again.
    try script(desk, "/services/oauth2/revoke", ["status": 503])
    try desk.signIn("bob", "chat", ["client_id": .string(ServiceDesk.rotating)])
    try eventually("the revocation has failed") { try desk.vendor.count("POST", "/revoke") == 1 }
    #expect(try setAgain(order, alice, delay: 2500, on: desk) == nil)
    try eventually("the late refresh is answered") { try desk.grants().contains { $0["refreshes"] == 1 } }
    #expect(desk.desk.stop() == 0)
    #expect(try ended("alice", desk) == [.null])
  }
}
