import JSONRPC
import SDKClientTesting
import Testing

@testable import sdkctl

/// Whole command lines against a scripted daemon.
struct ProgramTests {
  private let run = Run()

  @Test func theTokenIsBare() async {
    let status = await run.status("token", "kiosk", "--min-ttl", "10s") { _, _ in Samples.token }
    #expect(status == 0)
    #expect(run.output == "s3cret\n")
    #expect(run.errors.isEmpty)
    #expect(run.calls == [.init(method: "token.get", params: ["instance": "kiosk", "minTTL": 10])])
  }

  @Test func theTokensHeaders() async {
    _ = await run.status("token", "kiosk", "--http") { _, _ in Samples.token }
    #expect(run.output == "Authorization: Bearer s3cret\nCookie: a=1; b=2\n")
    #expect(run.calls.first?.params == ["instance": "kiosk", "http": true])
  }

  @Test func theTokenAsJSON() async throws {
    _ = await run.status("token", "kiosk", "-o", "jsonl") { _, _ in Samples.token }
    #expect(try JSONParser.parse(run.output) == Samples.token)
  }

  @Test func refreshShowsNoSecret() async {
    _ = await run.status("refresh", "kiosk") { _, _ in Samples.token }
    #expect(run.output.contains("0011223344556677"))
    #expect(!run.output.contains("s3cret"))
  }

  @Test func globalOptionsStandAnywhere() async {
    _ = await run.status("--socket", "/x/s", "-o", "json", "show", "kiosk") { _, _ in Samples.instance("kiosk") }
    #expect(run.path == "/x/s")
    #expect(run.output.hasPrefix("{\n  \"instance\": \"kiosk\""))
    _ = await run.status("show", "kiosk", "--tenant", "shop") { _, _ in Samples.instance("kiosk") }
    #expect(run.path == "/run/sdkd-tenants/shop.sock")
  }

  @Test func aListInPages() async {
    let status = await run.status("list", "--label", "shop=1") { _, params in
      params["after"] == nil
        ? ["instances": [Samples.instance("a")], "next": "a"]
        : ["instances": [Samples.instance("b", state: "locked", user: nil)]]
    }
    #expect(status == 0)
    #expect(
      run.output == """
        INSTANCE  KIND       STATE          USER   EXPIRES IN  LAST ERROR
        a         test.kind  authenticated  alice  -           -
        b         test.kind  locked         -      -           -

        """)
    #expect(
      run.calls.map(\.params) == [
        ["labels": ["shop": "1"], "limit": 200], ["labels": ["shop": "1"], "limit": 200, "after": "a"],
      ])
  }

  @Test func aTemplateForEachObject() async {
    _ = await run.status("list", "--template", #"{instance}\t{settings.refresh.margin}{nothing}"#) { _, _ in
      ["instances": [Samples.instance("a"), Samples.instance("b")]]
    }
    #expect(run.output == "a\t30\nb\t30\n")
  }

  @Test func createSaysWhatIsGiven() async {
    let status = await run.status(
      "create", "kiosk", "--kind", "test.kind", "--settings-file", "-", "--setting", "refresh.margin=30",
      "--setting", "url=https://example.com", "--access-use", "unit:kiosk.service+user:kiosk", "--label", "n=5",
      "--provider-command", "/bin/echo", "-n", "--label", input: #"{"secret":"x","refresh":{"jitter":0}}"#)
    #expect(status == 0)
    #expect(
      run.calls.last
        == .init(
          method: "instance.create",
          params: [
            "instance": "kiosk", "kind": "test.kind",
            "settings": ["secret": "x", "refresh": ["jitter": 0, "margin": 30], "url": "https://example.com"],
            "provider": ["command": ["/bin/echo", "-n", "--label"]],
            "access": ["use": ["unit:kiosk.service+user:kiosk"]], "labels": ["n": "5"],
          ]))
  }

  @Test("A number is text where the kind's schema takes only strings")
  func settingsFollowTheSchema() async {
    let schema: JSON = [
      "properties": [
        "account_key": ["type": "string"], "most": ["type": "integer"],
        "refresh": ["properties": ["margin": ["oneOf": [["type": "number"], ["type": "string"]]]]],
      ]
    ]
    let answer: @Sendable (String, JSON) -> JSON = { method, _ in
      switch method {
      case "rpc.discover": ["x-kinds": [["name": "test.kind", "settings": schema]]]
      default: Samples.instance("kiosk")
      }
    }
    let settings = ["account_key=12e5", "most=5", "refresh.margin=30"].flatMap { ["--setting", $0] }
    #expect(await run.status(["create", "kiosk", "--kind", "test.kind"] + settings, answer: answer) == 0)
    let expected: JSON = ["account_key": "12e5", "most": 5, "refresh": ["margin": 30]]
    #expect(run.calls.last?.params["settings"] == expected)
    #expect(await run.status("update", "kiosk", "--setting", "account_key=12345678", answer: answer) == 0)
    #expect(run.calls.last?.params["settings"] == ["account_key": "12345678"])
    // The schema is only fetched where it decides.
    #expect(await run.status("update", "kiosk", "--setting", "account_key=null", answer: answer) == 0)
    #expect(run.calls.suffix(2).map(\.method) == ["instance.update", "instance.update"])
  }

  @Test func updateIsAPatch() async {
    _ = await run.status(
      "update", "kiosk", "--setting", "a=null", "--label", "x=1", "--remove-label", "y", "--remove-provider")
    #expect(
      run.calls.first?.params == [
        "instance": "kiosk", "settings": ["a": nil], "provider": nil, "labels": ["x": "1", "y": nil],
      ])
    _ = await run.status(
      "update", "kiosk", "--access-observe", "*", "--remove-access", "use", "--provider-unit", "desk")
    #expect(
      run.calls.last?.params == [
        "instance": "kiosk", "provider": ["unit": "desk"], "access": ["observe": ["*"], "use": nil],
      ])
  }

  @Test func whatHeadLeavesUnread() async {
    let daemon = ScriptedDaemon()
    daemon.on("instance.list") { _ in ["instances": [Samples.instance("a")]] }
    let status = await Program.run(
      ["list"], output: Output { _ in throw BrokenPipe() }, errors: Output { _ in Issue.record("not quiet") },
      connector: daemon.connector)
    #expect(status == 0)
  }

  @Test func helpAndVersion() async {
    #expect(await run.status("--help") == 0)
    #expect(run.output.contains("lint-jwt"))
    #expect(await run.status("token", "--help") == 0)
    #expect(await run.status("help", "token") == 0)
    #expect(await run.status("--version") == 0)
    #expect(run.errors.isEmpty)
    #expect(run.calls.isEmpty)
  }

  @Test func aStatus() async {
    let status = await run.status("status") { method, _ in
      switch method {
      case "daemon.info": ["name": "sdkd", "version": "0.1.0", "pid": 7, "startedAt": "2020-01-01T00:00:00.000Z"]
      case "daemon.health":
        ["status": "failing", "checks": [["name": "store", "status": "failing", "detail": "disk\u{1B}[2J full"]]]
      default: ["instances": [], "counts": ["locked": 1, "authenticated": 2]]
      }
    }
    #expect(status == 1)
    #expect(run.output.contains("sdkd 0.1.0, pid 7"))
    #expect(run.output.contains(#"failing: disk\u001b[2J full"#))
    #expect(run.output.contains("instances        3\n  authenticated  2\n  locked         1\n"))
    #expect(run.calls.last?.params == ["counts": true])
    #expect(run.errors == "sdkctl: The daemon is failing. (failing)\n")
  }

  @Test func pushAddressesAreReadAndMasked() async {
    let status = await run.status("push", "kiosk", "register", "--type", "fcm", input: "dev1ce\n") { _, _ in
      ["id": "p1"]
    }
    #expect(status == 0)
    #expect(run.output == "p1\n")
    #expect(
      run.calls == [
        .init(
          method: "push.register", params: ["instance": "kiosk", "endpoint": ["address": "dev1ce", "type": "fcm"]])
      ])
    #expect(await run.status("push", "kiosk", "unregister", "p1") == 0)
    #expect(run.calls.last == .init(method: "push.unregister", params: ["instance": "kiosk", "id": "p1"]))
    for wrong in [["register"], ["unregister"], ["list", "p1"], ["register", "--type", "x"]] {
      #expect(await run.status(["push", "kiosk"] + wrong) == 2)
    }
    #expect(run.calls.count == 2)
  }

  @Test func aListOfPushes() async {
    _ = await run.status("push", "kiosk", "list") { _, _ in
      [
        "pushes": [
          [
            "id": "p1", "address": "…1234", "user": ["externalId": "alice"], "orphaned": true,
            "createdAt": "2026-01-02T03:04:05.678Z",
          ]
        ]
      ]
    }
    #expect(
      run.output == """
        ID  SERVICE  ADDRESS  USER   ORPHANED  MADE
        p1  -        …1234    alice  yes       2026-01-02T03:04:05.678Z

        """)
  }

  @Test func execWantsAProgramAndAName() async {
    #expect(await run.status("exec", "kiosk") == 125)
    #expect(await run.status("exec", "kiosk", "--variable", "1=2", "--", "true") == 125)
    #expect(run.calls.isEmpty)
    // As with env(1), what sdkctl fails with can't be taken for the program's own status.
    let refused = Run()
    let error = SDKError(.state, .reauthNeeded, "No.").rpcError
    #expect(await refused.status("--json", "exec", "kiosk", "--", "true") { _, _ in throw error } == 125)
    #expect(refused.errors.contains(#""reason":"reauthNeeded","exitStatus":125"#), "\(refused.errors)")
    let missing = await run.status("exec", "kiosk", "--", "/no/such/program") { _, _ in Samples.token }
    #expect(missing == 127)
    #expect(!run.errors.contains("s3cret"))
  }
}
