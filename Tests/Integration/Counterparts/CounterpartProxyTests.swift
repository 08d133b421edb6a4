import Foundation
import Glibc
import JSONRPC
import Testing

/// Connections to a vendor through tinyproxy. The daemon itself can't resolve the vendor's name.
@Suite(.enabled(if: getuid() == 0, "needs root to give the proxy a hosts file of its own"))
struct CounterpartProxyTests {
  private static let basic = "BasicAuth desk \(ProxyDesk.password)"

  @Test("A login over HTTPS and the realtime socket go through the proxy", arguments: [false, true])
  func login(withCredentials: Bool) throws {
    let front = try ProxyDesk()
    try front.startProxy(withCredentials ? Self.basic : "")
    try front.configure(withCredentials ? try front.credentials() : "")
    try front.desk.start()
    let line = try front.desk.connect()
    try front.desk.create("desk", on: line, settings: front.settings())
    let jwt = try front.desk.logIn(on: line)
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    try front.desk.waitForRealtime(on: line)
    #expect(front.proxyLog.contains("CONNECT desk.vendor.test:\(front.port)"))
    #expect(front.nginx.requests.allSatisfy { $0["tls"]?.stringValue?.hasPrefix("TLSv1.") == true })
    let info = try line.call("daemon.info")
    #expect(info["proxy"]?["url"] == .string(front.url))
    #expect(try Caller(uid: 65534).call(front.desk, "daemon.info", [:])["result"]?["proxy"] == nil)
    let events = JSONWriter.text(of: .array(try front.desk.events("desk", on: line)))
    for text in [front.desk.logs, JSONWriter.text(of: info), events] { #expect(!text.contains(ProxyDesk.password)) }
    // The tunnel breaks, and the realtime connection resumes through the next one.
    front.stopProxy()
    try eventually("the realtime connection is lost", within: 60) {
      try !front.desk.events("desk", on: line, "networkError").isEmpty || front.desk.vendor.openSockets() == 0
    }
    try front.startProxy(withCredentials ? Self.basic : "")
    try front.desk.waitForRealtime(on: line)
  }

  @Test("Missing and wrong credentials are named, and better ones hold after a reload")
  func credentials() throws {
    let front = try ProxyDesk()
    try front.startProxy(Self.basic)
    try front.configure()
    try front.desk.start()
    let line = try front.desk.connect()
    try front.desk.create("desk", on: line, settings: front.settings(["realtime": "off"]))
    let missing = try front.refusal(on: line)
    #expect(missing.reason == "network")
    #expect(missing.message.contains("the proxy \(front.url) wants credentials (status 407)"), "\(missing.message)")
    try front.configure(try front.credentials("wrong-hunter2"))
    try line.call("daemon.reload")
    let wrong = try front.refusal(on: line)
    #expect(wrong.message.contains("the proxy \(front.url) refused the credentials"), "\(wrong.message)")
    #expect(!front.desk.logs.contains("hunter2"))
    try front.configure(try front.credentials())
    try line.call("daemon.reload")
    try front.desk.logIn(on: line)
    #expect(try front.desk.state(on: line) == "authenticated")
    // A file that others can read refuses the reload, and the former credentials stay.
    try front.desk.write("proxy-secret", "desk:x", mode: 0o644)
    let refused = try line.failure("daemon.reload", [:])
    #expect(refused.reason == "invalidConfiguration")
    try front.desk.logIn(as: "bob", on: line)
  }

  @Test("A proxy that filters, hangs, answers HTML or does not run is named")
  func failures() throws {
    let front = try ProxyDesk()
    try front.desk.write("filter", "other\\.vendor\\.test\n")
    let filter = front.desk.folder.appendingPathComponent("filter").path
    try front.startProxy("Filter \"\(filter)\"\nFilterDefaultDeny Yes")
    try front.configure()
    try front.desk.start()
    let line = try front.desk.connect()
    try front.desk.create("desk", on: line, settings: front.settings(["realtime": "off"]))
    let filtered = try front.refusal(on: line)
    #expect(filtered.reason == "network" && filtered.isRetryable)
    #expect(
      filtered.message.contains(
        "the proxy \(front.url) refused to connect to desk.vendor.test:\(front.port) with status 403"),
      "\(filtered.message)")
    front.stopProxy()
    let down = try front.refusal(on: line)
    #expect(down.message.contains("the proxy \(front.url) can't be connected to"), "\(down.message)")

    try front.configure(proxy: "http://127.0.0.1:\(front.plainPort)")
    try line.call("daemon.reload")
    let html = try front.refusal(on: line)
    #expect(html.message.contains("the proxy http://127.0.0.1:\(front.plainPort) refused"), "\(html.message)")
    #expect(html.message.contains("status 4"), "\(html.message)")

    let silent = try RawHTTP.freePort()
    defer { close(silent.holder) }
    #expect(listen(silent.holder, 64) == 0)
    try front.configure(proxy: "http://127.0.0.1:\(silent.port)")
    try line.call("daemon.reload")
    let hanging = try front.refusal(on: line)
    #expect(hanging.message.contains("the proxy http://127.0.0.1:\(silent.port)"), "\(hanging.message)")
    #expect(hanging.message.contains("in time"), "\(hanging.message)")
    #expect(!front.nginx.requests.contains { $0["port"]?.intValue == Int(front.port) })
  }

  @Test("An instance's proxy replaces the daemon's, and only admins may set one")
  func instances() throws {
    let front = try ProxyDesk()
    try front.startProxy(Self.basic)
    try front.configure(
      proxy: "http://127.0.0.1:1", "[[access.create]]\nwho = \"uid:65534\"\nprefix = \"kiosk-\"\nmax = 9")
    let file = try front.desk.write("own-secret", "desk:\(ProxyDesk.password)\n", mode: 0o600)
    let settings = front.settings(["realtime": "off", "proxy": .string(front.url)])
    let lines = settings.members.map { "\($0.key) = \(JSONWriter.text(of: $0.value))" }
    try front.desk.write(
      "instances.d/desk.toml",
      """
      id = "desk"
      kind = "zendesk.messaging"
      [settings]
      app_id = "\(Desk.app)"
      proxy_credentials = { file = "\(file.path)" }
      \(lines.joined(separator: "\n"))
      """)
    try front.desk.start()
    let line = try front.desk.connect()
    try front.desk.logIn(on: line)
    let shown = JSONWriter.text(of: try line.call("instance.get", ["instance": "desk"]))
    #expect(shown.contains(front.url) && !shown.contains(ProxyDesk.password))

    let direct = front.settings(["realtime": "off", "proxy": "none"])
    try front.desk.create("direct", on: line, settings: direct)
    let error = try line.failure(
      "messaging.loginUser", ["instance": "direct", "jwt": .string(try Vendor.mint("alice"))], within: 40)
    #expect(error.message.contains("its name has no address"), "\(error.message)")
    let wrong = try line.failure(
      "instance.update", ["instance": "direct", "settings": ["proxy": "socks5://127.0.0.1:1080"]])
    #expect(wrong.data["member"] == "settings.proxy" && wrong.message.contains("SOCKS"), "\(wrong)")

    let base: JSONObject = ["base_url": "https://desk.vendor.test/sc", "app_id": .string(Desk.app)]
    let own: [JSONObject] = [
      ["proxy": "none"], ["proxy": .string(front.url)], ["proxy": "environment", "proxy_credentials": "u:p"],
    ]
    for settings in own {
      let answer = try Caller(uid: 65534).call(
        front.desk, "instance.create",
        [
          "instance": "kiosk-1", "kind": "zendesk.messaging", "settings": .object(base.merged(with: settings)),
        ])
      #expect(answer["error"]?["data"]?["reason"] == "accessDenied", "\(answer)")
    }
  }

  @Test("A daemon started by hand takes proxy and authority from its environment")
  func environment() throws {
    let front = try ProxyDesk()
    try front.startProxy(Self.basic)
    try front.desk.write("sdkd.toml", "[network]\nproxy = \"environment\"\n")
    try front.desk.start(environment: [
      "https_proxy": "http://desk:\(ProxyDesk.password)@127.0.0.1:\(front.proxyPort)", "no_proxy": "other.vendor.test",
      "SSL_CERT_FILE": front.caFile,
    ])
    let line = try front.desk.connect()
    try front.desk.create("desk", on: line, settings: front.settings(["realtime": "off"]))
    try front.desk.logIn(on: line)
    let info = JSONWriter.text(of: try line.call("daemon.info"))
    #expect(info.contains(front.url) && !info.contains(ProxyDesk.password))
    let base = "https://other.vendor.test:\(front.port)/ns/\(front.desk.namespace)/zm"
    try front.desk.create(
      "direct", on: line, settings: front.settings(["base_url": .string(base), "realtime": "off"]))
    let error = try line.failure(
      "messaging.loginUser", ["instance": "direct", "jwt": .string(try Vendor.mint("alice"))], within: 40)
    #expect(error.message.contains("its name has no address"), "\(error.message)")
  }

  @Test("The authorities of a directory are trusted, and a variable that names no proxy refuses the configuration")
  func directory() throws {
    let front = try ProxyDesk()
    try front.startProxy()
    let folder = front.desk.folder.appendingPathComponent("authorities")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: front.caFile, toPath: folder.appendingPathComponent("own.pem").path)
    let rehash = try Counterpart.run("/usr/bin/openssl", ["rehash", folder.path], in: front.desk)
    #expect(rehash.status == 0, "\(rehash.output)")
    try front.desk.write("sdkd.toml", "[network]\nproxy = \"\(front.url)\"\n")
    try front.desk.start(environment: ["SSL_CERT_FILE": "", "SSL_CERT_DIR": "/nonexistent:\(folder.path)"])
    let line = try front.desk.connect()
    try front.desk.create("desk", on: line, settings: front.settings(["realtime": "off"]))
    try front.desk.logIn(on: line)
    let check = try Counterpart.run(
      Program.path("sdkd"), ["--check", "--config", front.desk.configuration.path], in: front.desk)
    #expect(check.status == 0, "\(check.output)")
    try front.configure(proxy: "environment")
    let refused = try Counterpart.run(
      Program.path("sdkd"), ["--check", "--config", front.desk.configuration.path], in: front.desk,
      environment: ["https_proxy": "socks5://u:hunter2@127.0.0.1:1080"])
    #expect(refused.status == 78 && refused.output.contains("https_proxy"), "\(refused.output)")
    #expect(!refused.output.contains("hunter2"))
  }
}
