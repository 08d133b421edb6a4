import Foundation
import JSONRPC
import Testing

/// A vendor that begins its answer and never ends it.
@Suite struct StalledVendorTests {
  private func create(
    _ sample: KindSample, at server: StallingServer, timeout: JSON, on line: Line, in desk: Desk
  ) throws {
    let name = try #require(sample.urls.first)
    var settings: JSONObject = ["timeout": timeout]
    // Account settings that can't be read are `network`, whatever the reason (S3).
    if sample.kind == KindSample.support.kind { settings["authentication"] = "jwt" }
    settings[name] = .string("http://127.0.0.1:\(server.port)/v")
    try desk.create("desk", sample, user: "alice", on: line, settings: settings)
  }

  /// Begins a call that sends a request to the vendor, and returns the call's id.
  private func begin(_ sample: KindSample, on line: Line, in desk: Desk) throws -> Int {
    let (method, params) = try sample.signIn(desk.vendor, "desk", "alice")
    guard sample.exchange == nil else { return line.begin(method, .object(params)) }
    // Service Chat accepts settings without a request; a refresh sends one.
    try line.call(method, .object(params))
    return line.begin("token.refresh", ["instance": "desk", "service": "cases"])
  }

  @Test("A body that stalls times out, and the instance goes on", arguments: KindSample.all)
  func timeout(sample: KindSample) throws {
    let server = try StallingServer()
    let desk = try Desk.open()
    let line = try desk.connect()
    try create(sample, at: server, timeout: "1s", on: line, in: desk)
    let call = try begin(sample, on: line, in: desk)
    var answer = try line.answer(call)
    if answer["error"] == nil { answer = try line.answer(line.begin("token.get", ["instance": "desk"])) }
    let reason = answer["error"]?["data"]?["reason"]?.stringValue ?? ""
    #expect(reason == "timeout", "\(answer)")
    #expect(answer["error"]?["data"]?["retryable"] == true)
    #expect(server.requests >= 1)
    #expect(try line.call("daemon.health")["status"] != nil)
  }

  @Test("The daemon stops while a vendor's body stalls", arguments: KindSample.all)
  func stop(sample: KindSample) throws {
    let server = try StallingServer()
    let desk = try Desk.open()
    let line = try desk.connect()
    try create(sample, at: server, timeout: "10m", on: line, in: desk)
    _ = try begin(sample, on: line, in: desk)
    if sample.kind == KindSample.chat.kind { line.begin("token.get", ["instance": "desk"]) }
    try eventually("the vendor is asked") { server.requests >= 1 }
    // Requests that are under way get the grace of ten seconds, and are cancelled then.
    #expect(desk.stop() == 0)
  }
}
