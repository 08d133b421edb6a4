import Foundation
import JSONRPC
import Testing

/// Port numbers that are out of range, wherever the daemon accepts a URL: the URL is refused, and nothing ends.
@Suite struct BadPortTests {
  static let ports = ["0", "65536", "70000", "2147483648", "9223372036854775808"]

  private static let urls = KindSample.all.flatMap { sample in sample.urls.map { (sample.kind, $0) } }

  @Test("A definition's URL with such a port is refused, and port 65535 is taken", arguments: urls)
  func definitions(kind: String, setting: String) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let sample = try #require(KindSample.all.first { $0.kind == kind })
    let scheme = ["realtime_url", "ws_url", "mediator_url"].contains(setting) ? "ws" : "http"
    func params(_ port: String) throws -> JSON {
      var settings = try sample.settings(desk.vendor)
      settings[setting] = .string("\(scheme)://127.0.0.1:\(port)/v")
      return ["instance": "desk", "kind": .string(kind), "settings": .object(settings)]
    }
    for port in Self.ports {
      let error = try line.failure("instance.create", try params(port))
      #expect(error.code == -32602, "\(port)")
      #expect(error.data["member"] == .string("settings.\(setting)"), "\(port)")
    }
    try line.call("instance.create", try params("65535"))
  }

  @Test("A channel key and a vendor's settings that lead to such a port are refused")
  func supplied() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    for (index, port) in Self.ports.enumerated() {
      let url = "http://127.0.0.1:\(port)/zm"
      let key = Data(JSONWriter.bytes(of: ["settings_url": .string(url)])).base64EncodedString()
      let refused = try line.failure(
        "instance.create",
        ["instance": "key", "kind": .string(KindSample.messaging.kind), "settings": ["channel_key": .string(key)]])
      #expect(refused.reason == "invalidChannelKey" || refused.code == -32602, "\(port)")
      let id = "desk-\(index)"
      try line.call(
        "instance.create",
        [
          "instance": .string(id), "kind": .string(KindSample.messaging.kind),
          "settings": ["settings_url": .string(try desk.vendor.messaging + "/settings"), "timeout": "5s"],
        ])
      try desk.vendor.script([
        "route": "GET /zm/settings", "times": 1,
        "body": [
          "settings": [
            "native_messaging": ["enabled": true, "integration_id": "i"],
            "messaging": ["appId": .string(Desk.app), "baseUrl": .string(url)],
          ], "app": ["_id": .string(Desk.app)], "baseUrl": ["android": .string(url), "ios": .string(url)],
          "baseURL": .string(url), "appId": .string(Desk.app),
        ],
      ])
      let failure = try line.failure(
        "messaging.loginUser", ["instance": .string(id), "jwt": .string(try Vendor.mint("alice"))])
      #expect(["badResponse", "network"].contains(failure.reason), "\(failure)")
    }
    #expect(try line.call("daemon.info")["pid"] != nil)
  }

  @Test("A caller's and a provider's URL with such a port are refused", arguments: ports)
  func authenticationSettings(port: String) throws {
    let desk = try ServiceDesk(provider: "cat answer")
    let given = try desk.grant()
    var settings = ServiceDesk.settings(given).objectValue ?? [:]
    settings["instanceUrl"] = .string("http://127.0.0.1:\(port)")
    let refused = try desk.refusal(.object(settings))
    #expect(refused.reason == "authenticationSettingsError" && refused.message.contains("instanceUrl"), "\(refused)")
    let answer: JSON = ["authenticate": true, "settings": .object(settings)]
    try desk.desk.write("answer", JSONWriter.text(of: answer))
    let unusable = try desk.line.failure("session.open", desk.params())
    #expect(unusable.reason == "providerOutputInvalid" && unusable.message.contains("instanceUrl"), "\(unusable)")
    #expect(try desk.line.call("daemon.info")["pid"] != nil)
  }

  /// The fixture was recorded by 0.1.0. A user of Service Chat whose `instance_url` is `http://127.0.0.1:70000` has
  /// signed out. That daemon ended at the revocation, then and at every start.
  @Test("The daemon starts with a queued revocation to such a port")
  func queued() throws {
    let (desk, environment) = try Desk.recorded("state-0.1.0-port", secondsLater: 600)
    try desk.start(environment: environment)
    let line = try desk.connect()
    let instance = try line.call("instance.get", ["instance": "service"])
    #expect(instance["services"]?["cases"]?["state"] == "loggedOut")
    let startedAt = try #require(try line.call("daemon.info")["startedAt"]?.stringValue)
    try eventually("the revocation has been tried after the start, and is planned again") {
      let pending = try line.call("instance.get", ["instance": "service"])["pending"]?.arrayValue?.first
      return pending?["nextAttemptAt"]?.stringValue.map { $0 > startedAt } == true
    }
    try line.call("instance.delete", ["instance": "service"])
    #expect(desk.stop() == 0)
  }
}
