import Foundation
import Glibc
import JSONRPC
import Testing

/// A URL from outside an instance's definition may lead only where the rules for its supplier allow. It does not matter
/// who made the instance. The definition's secrets go to its own URLs only.
@Suite(.enabled(if: getuid() == 0, "needs root for callers of another user"))
struct SuppliedURLTests {
  enum Supplier: String, CaseIterable {
    case caller, delegate, provider, vendor
  }

  /// The places to which a supplier leads. `own.test` is the host of the definition, and `listed.test` is in
  /// `[network] allow`.
  enum Place: String, CaseIterable {
    case own = "https://own.test/else"
    case otherPort = "https://own.test:8443/org"
    case listed = "https://listed.test"
    case listedPath = "https://eu.listed.test/services/apexrest/x"
    case unlisted = "https://attacker.test/x"

    func isAllowed(hasOwn: Bool) -> Bool { self == .listed || self == .listedPath || self == .own && hasOwn }

    /// The host and port.
    var authority: String {
      let host = rawValue.split(separator: "/")[1]
      return host.contains(":") ? String(host) : "\(host):443"
    }
  }

  /// The member of the settings that holds the URL.
  enum Member: String, CaseIterable {
    case instanceUrl, communityUrl
    case accountInstance = "account.instance_url"
    case accountCommunity = "account.sfdc_community_url"

    var isOfCommunity: Bool { self == .communityUrl || self == .accountCommunity }
  }

  /// A supplier, whether the definition has a `login_url`, and the member. The vendor supplies one member only, and
  /// nothing without `login_url`, since it is then asked nothing that has the secret.
  static let cases: [(supplier: Supplier, hasLogin: Bool, member: Member)] = Supplier.allCases.flatMap { supplier in
    supplier == .vendor
      ? [(supplier, true, .instanceUrl)]
      : Member.allCases.flatMap { [(supplier, true, $0), (supplier, false, $0)] }
  }

  private static let secret = "TOP/SECRET+of-the-app"
  private static let kiosk = 65534

  /// Opens a desk whose daemon uses the trap as its proxy.
  private func open(_ instances: (Desk) throws -> [(id: String, text: String)]) throws -> (Desk, TrapProxy) {
    let desk = try Desk()
    let trap = try TrapProxy(in: desk)
    try desk.write(
      "sdkd.toml",
      """
      [network]
      allow = ["listed.test"]
      ca_file = "\(trap.caFile)"
      proxy = "http://127.0.0.1:\(trap.port)"

      """)
    for (id, text) in try instances(desk) {
      let access = "[access]\ncontrol = [\"uid:\(Self.kiosk)\"]\n"
      try desk.write("instances.d/\(id).toml", "id = \"\(id)\"\n\(text)\n\(access)", mode: 0o600)
    }
    try desk.start()
    return (desk, trap)
  }

  private static func settings(_ url: String, refresh: String = "RT-1", _ member: String = "instanceUrl") -> JSON {
    var settings: JSONObject = [
      "instanceUrl": "https://listed.test", "accessToken": "AT-1", "refreshToken": .string(refresh),
    ]
    settings[member] = .string(url)
    return .object(settings)
  }

  private static func settings(_ url: String, in member: Member) -> JSON {
    if member == .instanceUrl || member == .communityUrl { return settings(url, member.rawValue) }
    var account: JSONObject = [
      "instance_url": .string(Place.listed.rawValue), "access_token": "AT-1", "refresh_token": "RT-1",
    ]
    account[member == .accountInstance ? "instance_url" : "sfdc_community_url"] = .string(url)
    return ["account": .object(account)]
  }

  private static func file(
    _ desk: Desk, _ supplier: Supplier, _ place: Place, _ member: Member = .instanceUrl, login: Bool
  ) throws -> String {
    let loginURL = login ? "login_url = \"https://own.test/login\"" : ""
    let answer: JSON = ["authenticate": true, "settings": settings(place.rawValue, in: member)]
    let script = "#!/bin/sh\necho '\(JSONWriter.text(of: answer))'\n"
    let program = try desk.write("provider-\(place)", script, mode: 0o755)
    return """
      kind = "\(KindSample.salesforce.kind)"
      [settings]
      client_id = "C"
      client_secret = "\(secret)"
      services = ["chat"]
      refresh = { min_interval = 0 }
      \(loginURL)
      \(supplier == .provider ? "[provider]\ncommand = [\"\(program.path)\"]" : "")
      """
  }

  /// Makes the supplier supply the place. Returns the reason of the refusal; `nil` if there was none.
  ///
  /// - Parameter delegates: the delegates so far, to which a new one is added. It is connected as long as it exists.
  private func supply(
    _ place: Place, in member: Member, by supplier: Supplier, to id: String, _ desk: Desk, _ line: Line,
    _ delegates: inout [Stranger]
  ) throws -> String? {
    func reason(_ method: String, _ more: JSONObject) throws -> String? {
      let params = (["instance": .string(id), "service": "chat"] as JSONObject).merged(with: more)
      return try line.answer(line.begin(method, .object(params)))["error"]?["data"]?["reason"]?.stringValue
    }
    switch supplier {
    case .caller:
      return try Caller(uid: Self.kiosk).reason(
        desk, "serviceChat.setAuthenticationSettings",
        [
          "instance": .string(id), "service": "chat", "settings": Self.settings(place.rawValue, in: member),
        ])
    case .provider: return try reason("session.open", [:])
    case .delegate:
      let answer: JSON = ["authenticate": true, "settings": Self.settings(place.rawValue, in: member)]
      let delegate = try Stranger(
        desk, uid: Self.kiosk,
        """
        line = Line()
        say(line.call("delegate.attach", instances=["\(id)"]))
        while True:
            asked = line.read()
            if asked is None: break
            if asked.get("method", "").startswith("delegate."):
                result = json.loads('\(JSONWriter.text(of: answer))') if "should" in asked["method"] else {"proceed": False}
                line.send(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
        """)
      delegates.append(delegate)
      #expect(try delegate.word()["result"] != nil)
      return try reason("session.open", [:])
    case .vendor:
      let refresh = "RThex\(TrapProxy.hex(place.rawValue))"
      #expect(
        try reason(
          "serviceChat.setAuthenticationSettings", ["settings": Self.settings("https://listed.test", refresh: refresh)])
          == nil)
      return try reason("token.refresh", [:])
    }
  }

  /// Whether a request holds the connected app's secret: plain, or as a form encodes it.
  private func holdsSecret(_ arrival: TrapProxy.Arrival) -> Bool {
    [Self.secret, "TOP%2FSECRET%2Bof-the-app"].contains { arrival.text.contains($0) }
  }

  @Test(
    "A URL leads where its supplier may lead, and the connected app's secret only to login_url",
    arguments: cases.indices)
  func salesforce(index: Int) throws {
    let (supplier, hasLogin, member) = Self.cases[index]
    let (desk, trap) = try open { desk in
      try Place.allCases.map {
        ("desk-\($0)".lowercased(), try Self.file(desk, supplier, $0, member, login: hasLogin))
      }
    }
    let line = try desk.connect()
    var delegates: [Stranger] = []
    for place in Place.allCases {
      let id = "desk-\(place)".lowercased()
      let before = try trap.arrivals.count
      let refusal = try supply(place, in: member, by: supplier, to: id, desk, line, &delegates)
      let isAllowed = place.isAllowed(hasOwn: hasLogin)
      let expected: [Supplier: String] = [
        .caller: "accessDenied", .delegate: "providerOutputInvalid", .provider: "providerOutputInvalid",
        .vendor: "badResponse",
      ]
      #expect(refusal == (isAllowed ? nil : expected[supplier]), "\(place)")
      // A refresh has the secret, and a registration goes to the instance URL.
      let params: JSON = ["instance": .string(id), "service": "chat"]
      let refreshed = try line.answer(line.begin("token.refresh", params))
      if isAllowed, !hasLogin {
        #expect(refreshed["error"]?["data"]?["reason"] == "invalidAuthParameters", "\(place)")
        #expect(refreshed["error"]?["data"]?["member"] == "login_url", "\(place)")
      } else if isAllowed {
        #expect(refreshed["result"] != nil, "\(place)")
      }
      _ = try line.answer(
        line.begin(
          "push.register",
          ["instance": .string(id), "service": "chat", "endpoint": ["address": "a", "type": "fcm"]]))
      // A community's instance is on the listed host.
      let instance = member.isOfCommunity ? Place.listed : place
      let isReached = try trap.arrivals.dropFirst(before).contains {
        $0.place == instance.authority && $0.path.hasSuffix("PushServiceDevice")
      }
      #expect(isReached == isAllowed, "\(place)")
    }
    for arrival in try trap.arrivals where holdsSecret(arrival) {
      #expect(arrival.place == "own.test:443" && arrival.path == "/login/services/oauth2/token", "\(arrival)")
    }
    #expect(try trap.arrivals.contains(where: holdsSecret) == hasLogin)
    #expect(
      try !trap.arrivals.contains { $0.place == Place.unlisted.authority || $0.place == Place.otherPort.authority })
  }

  @Test("A community's URL gets no secret of the connected app, and the vendor's own login hosts do at their root")
  func communities() throws {
    let (desk, trap) = try open { [("desk", try Self.file($0, .caller, .listed, login: false))] }
    let line = try desk.connect()
    for (url, isSent) in [(Place.listedPath.rawValue, false), ("https://test.salesforce.com/apex/x", true)] {
      try line.call(
        "serviceChat.setAuthenticationSettings",
        ["instance": "desk", "service": "chat", "settings": Self.settings(url, in: .communityUrl)])
      let error = try line.failure("token.refresh", ["instance": "desk", "service": "chat"])
      // The certificate is not for the vendor's hosts.
      #expect(error.reason == (isSent ? "network" : "invalidAuthParameters"), "\(error)")
    }
    #expect(try trap.arrivals.map(\.place).contains("test.salesforce.com:443"))
    #expect(try !trap.arrivals.contains(where: holdsSecret))
  }

  @Test("sdkd --check asks for login_url where the connected app has a secret, and calls can't leave it out")
  func check() throws {
    let (desk, _) = try open {
      [
        ("without", try Self.file($0, .caller, .listed, login: false)),
        ("with", try Self.file($0, .caller, .listed, login: true)),
        ("key", "kind = \"zendesk.messaging\"\n[settings]\nchannel_key = \"\(Self.key(.unlisted))\""),
      ]
    }
    #expect(desk.logs.contains("settings.login_url"), "the daemon serves all the same, and warns")
    let checked = try Program(
      "sdkd", ["--check", "--config", desk.configuration.path], output: desk.folder.appendingPathComponent("out"),
      log: desk.folder.appendingPathComponent("checked"))
    #expect(checked.exit(within: 30) == 78)
    let lines = checked.logText.split(separator: "\n")
    #expect(lines.count == 2, "\(lines)")
    #expect(lines.contains { $0.contains("without.toml") && $0.contains("settings.login_url") })
    #expect(lines.contains { $0.contains("key.toml") && $0.contains("attacker.test") })
    let line = try desk.connect()
    let create: JSONObject = ["instance": "new", "kind": .string(KindSample.salesforce.kind)]
    let settings: JSONObject = ["client_id": "C", "client_secret": .string(Self.secret)]
    let refused = try line.failure("instance.create", .object(create.merged(with: ["settings": .object(settings)])))
    #expect(refused.data["member"] == "settings.login_url")
    let whole = settings.merged(with: ["login_url": "https://own.test/login"])
    try line.call("instance.create", .object(create.merged(with: ["settings": .object(whole)])))
    let removed = try line.failure("instance.update", ["instance": "new", "settings": ["login_url": .null]])
    #expect(removed.data["member"] == "settings.login_url")
    let wrongKey = try line.failure(
      "instance.create",
      [
        "instance": "b", "kind": .string(KindSample.messaging.kind),
        "settings": ["channel_key": .string(Self.key(.unlisted))],
      ])
    #expect(wrongKey.reason == "accessDenied" && wrongKey.data["member"] == "settings.channel_key", "\(wrongKey)")
  }

  @Test(
    "A URL to which paths are appended has no query, in a call and in a file", arguments: KindSample.all,
    ["https://own.test/sc?x=1", "https://own.test/sc#x"])
  func query(sample: KindSample, url: String) throws {
    let member = try #require(sample.urls.first)
    let desk = try Desk.open(configuration: "")
    let line = try desk.connect()
    var settings = sample.settings(http: "https://own.test", ws: "wss://own.test")
    settings[member] = .string(url)
    let refused = try line.failure(
      "instance.create", ["instance": "b", "kind": .string(sample.kind), "settings": .object(settings)])
    #expect(refused.data["member"] == .string("settings.\(member)") && refused.message.contains("query"), "\(refused)")
    let lines = settings.members.map { "\($0.key) = \(JSONWriter.text(of: $0.value))" }.joined(separator: "\n")
    try desk.write("instances.d/b.toml", "id = \"b\"\nkind = \"\(sample.kind)\"\n[settings]\n\(lines)\n", mode: 0o600)
    let checked = try Program(
      "sdkd", ["--check", "--config", desk.configuration.path],
      output: desk.folder.appendingPathComponent("out"), log: desk.folder.appendingPathComponent("checked"))
    #expect(checked.exit(within: 30) == 78)
    let said = checked.logText
    #expect(said.contains("b.toml") && said.contains("settings.\(member)") && said.contains("query"), "\(said)")
  }

  private static func key(_ place: Place, _ path: String = "/settings.json") -> String {
    Data(JSONWriter.bytes(of: ["settingsUrl": .string(place.rawValue + path)])).base64EncodedString()
  }

  @Test("Messaging follows neither a channel key nor the vendor to a place that outsiders may not supply")
  func messaging() throws {
    func id(_ way: String, _ place: Place) -> String { "\(way)-\(place)".lowercased() }
    let (desk, trap) = try open { _ in
      Place.allCases.flatMap { place in
        let hex = "hex\(TrapProxy.hex(place.rawValue))"
        let own = "base_url = \"https://own.test/sc\""
        return [
          ("key", "channel_key = \"\(Self.key(place, "/key.json"))\"\n\(own)"),
          ("settings", "settings_url = \"https://own.test/\(hex)/at.json\"\nrealtime = \"off\""),
          ("realtime", "app_id = \"a\"\nbase_url = \"https://own.test/\(hex)/sc\""),
        ].map { (id($0.0, place), "kind = \"zendesk.messaging\"\n[settings]\n\($0.1)") }
      }
    }
    let line = try desk.connect()
    let jwt: JSON = .string(try Vendor.mint("alice"))
    func login(_ id: String) throws -> String? {
      try line.answer(line.begin("messaging.loginUser", ["instance": .string(id), "jwt": jwt]))["error"]?["data"]?[
        "reason"]?.stringValue
    }
    func isReached(_ place: Place, _ part: String) throws -> Bool {
      try trap.arrivals.contains { $0.place == place.authority && $0.path.contains(part) }
    }
    for place in Place.allCases {
      let isAllowed = place.isAllowed(hasOwn: true)
      #expect(try login(id("key", place)) == (isAllowed ? nil : "badResponse"), "\(place)")
      #expect(try isReached(place, "/key.json") == isAllowed, "\(place)")
      #expect(try login(id("settings", place)) == (isAllowed ? nil : "badResponse"), "\(place)")
      #expect(try isReached(place, "/v2/apps/a/login") == isAllowed, "\(place)")
      #expect(try login(id("realtime", place)) == nil, "\(place)")
      if isAllowed {
        try eventually("the realtime socket is tried") {
          try trap.arrivals.contains {
            $0.place == place.authority && $0.text.lowercased().contains("upgrade: websocket")
          }
        }
      }
    }
    #expect(
      try !trap.arrivals.contains { $0.place == Place.unlisted.authority || $0.place == Place.otherPort.authority })
  }

  @Test("No kind follows a redirect", arguments: KindSample.all)
  func redirects(sample: KindSample) throws {
    // What else a kind needs to get as far as a request.
    let more: [String: JSONObject] = [
      KindSample.salesforce.kind: ["client_secret": .string(Self.secret)], KindSample.chat.kind: ["fallback": "fail"],
    ]
    let settings = sample.settings(http: "https://own.test/redirect", ws: "wss://own.test/redirect").merged(
      with: more[sample.kind] ?? [:])
    let lines = settings.members.map { "\($0.key) = \(JSONWriter.text(of: $0.value))" }
    let (desk, trap) = try open { desk in
      [("desk", "kind = \"\(sample.kind)\"\n[settings]\n\(lines.joined(separator: "\n"))")]
    }
    let line = try desk.connect()
    var (method, params) = try sample.signIn(desk.vendor, "desk", "alice")
    if sample.kind == KindSample.salesforce.kind { params["settings"] = Self.settings("https://listed.test") }
    if sample.kind == KindSample.chat.kind {
      params["jwt"] = .string(try Vendor.output("sdk-sandbox", ["mint", "--sdk", "chat", "--external-id", "alice"]))
    }
    let first = try line.answer(line.begin(method, .object(params)))
    let next = try line.answer(line.begin("token.refresh", ["instance": "desk"]))
    #expect(first["error"] != nil || next["error"] != nil)
    #expect(try trap.arrivals.contains { $0.path.hasPrefix("/redirect") })
    #expect(try !trap.arrivals.contains { $0.place.hasPrefix("attacker.test") })
  }
}
