import Foundation
import JSONRPC
import Testing

/// The entries of the daemon in the journal of a booted system.
@Suite struct JournalTests {
  @Test func oneTenantsStoryIsToldWithFieldsAndExplanations() async throws {
    try await Machine.with { machine in
      try await machine.startSandbox()
      try await machine.installProviders()
      try await machine.enableProvider("shell", program: "/usr/local/libexec/shell-token")
      try await machine.sh("echo '{\"unit\": \"shell\"}' > /root/provider; useradd kiosk")
      try await machine.signIn("alice", at: "desk", "--provider-file /root/provider --access-use user:kiosk")
      try await machine.signIn("bob", at: "other")
      try await machine.sh("sdkctl refresh desk > /dev/null")
      try await machine.sh("runuser -u kiosk -- sdkctl token desk > /dev/null")
      try await machine.sh("printf '#!/bin/sh\\nexit 1\\n' > /usr/local/libexec/shell-token")
      // The breaker counts the failures of the kiosk. A refresh by a caller with the control role resets it.
      try await machine.eventually(
        "the breaker opens",
        "{ runuser -u kiosk -- sdkctl refresh desk 2>&1 || true; } | grep -q providerBackoff")
      try await machine.sh("sdkctl logout desk > /dev/null; sdkctl delete desk > /dev/null")

      _ = try await machine.journal("-o cat SDKD_INSTANCE=desk SDKD_EVENT=instanceDeleted") { !$0.isEmpty }
      let story = try await machine.journal("SDKD_INSTANCE=desk")
      let told = story.compactMap { $0["SDKD_EVENT"]?.stringValue }
      var rest = told[...]
      for event in [
        "instanceCreated", "userLoggedIn", "tokenRefreshed", "breakerOpened", "refreshFailed", "userLoggedOut",
        "instanceDeleted",
      ] {
        let index = rest.firstIndex(of: event)
        #expect(index != nil, "\(event) is not where it belongs in \(told)")
        if let index { rest = rest[(index + 1)...] }
      }
      #expect(!story.contains { ($0["MESSAGE"]?.stringValue ?? "").contains("bob") })
      for entry in story {
        for name in ["PRIORITY", "CODE_FILE", "CODE_LINE", "CODE_FUNC", "SDKD_KIND", "MESSAGE_ID"] {
          #expect(entry[name]?.stringValue?.isEmpty == false, "\(name) is missing: \(JSONWriter.text(of: entry))")
        }
        #expect(entry["SYSLOG_IDENTIFIER"] == "sdkd" && entry["_SYSTEMD_UNIT"] == "sdkd.service")
        #expect(entry["SDKD_KIND"] == "zendesk.messaging")
      }
      func entry(_ name: String, _ value: String) -> JSON? { story.first { $0[name]?.stringValue == value } }
      #expect(entry("SDKD_EVENT", "tokenRefreshed")?["PRIORITY"] == "6")
      #expect(entry("SDKD_EVENT", "tokenRefreshed")?["SDKD_TOKEN_ID"]?.stringValue?.isEmpty == false)
      #expect(entry("SDKD_EVENT", "refreshFailed")?["PRIORITY"] == "4")
      #expect(entry("SDKD_EVENT", "breakerOpened")?["PRIORITY"] == "4")
      let uid = try await machine.sh("id -u kiosk").output.dropLast()
      let handed = story.first { $0["SDKD_RECORD"] == "credential" && $0["SDKD_PEER_UID"]?.stringValue == String(uid) }
      #expect(handed?["SDKD_METHOD"] == "token.get" && handed?["SDKD_AUDIT"] == "1" && handed?["PRIORITY"] == "5")
      #expect(handed?["SDKD_TOKEN_ID"] != nil)

      // Each message ID has a text in the catalog, with the name of the instance filled in.
      let catalog = try await machine.sh("journalctl --list-catalog").output
      for id in Set(story.compactMap { $0["MESSAGE_ID"]?.stringValue }) {
        #expect(catalog.contains("\(id) sdkd: "), "\(id) has no text")
      }
      let explained = try await machine.sh("journalctl --sync; journalctl -x --no-pager SDKD_INSTANCE=desk").output
      #expect(explained.contains("Subject: The token of desk was refreshed"))
      #expect(explained.contains("Subject: The token provider of desk is paused"))
      let ready = try await machine.messageID("The daemon is ready")
      #expect(try await machine.journal("MESSAGE_ID=\(ready)", "_SYSTEMD_UNIT=sdkd.service").count == 1)
    }
  }

  @Test func noSecretIsInIt() async throws {
    try await Machine.with { machine in
      try await machine.startSandbox()
      try await machine.sh(
        """
        mkdir -p /usr/local/libexec
        cat > /usr/local/libexec/answer <<'END'
        #!/bin/sh
        cat /usr/local/libexec/answer.d/$SDKD_INSTANCE
        exit $(cat /usr/local/libexec/answer.d/status)
        END
        chmod 755 /usr/local/libexec/answer
        """)
      try await machine.enableProvider("answer", program: "/usr/local/libexec/answer")
      // The most verbose log level.
      try await machine.sh("printf '[log]\\nlevel = \"trace\"\\n' > /etc/sdkd/sdkd.toml; systemctl reload sdkd.service")
      let files = try Self.kindFiles()
      let ended = try await machine.run(["python3", "-c", Self.job] + files, within: 300)
      #expect(ended.status == 0, "\(ended.output)\(ended.error)")
      let count = try await machine.sh("sort -u /root/secrets | grep -c .").output
      #expect((Int(count.dropLast()) ?? 0) >= 30, "\(count) secrets")
      try await machine.sh(
        "systemctl stop sdkd.service sandbox; journalctl --sync; journalctl -o export --all > /root/journal")
      let found = try await machine.run(["grep", "-a", "-n", "-F", "-f", "/root/secrets", "/root/journal"])
      #expect(found.status == 1, "\(found.output.prefix(4000))")
      // The journal has entries of all kinds, and the same search finds a secret that was logged on purpose.
      let kinds = try await machine.sh("grep -a -o '^SDKD_KIND=.*' /root/journal | sort -u | wc -l").output
      #expect(kinds == "\(files.count)\n")
      let check = "head -n 1 /root/secrets | systemd-cat; journalctl --sync; journalctl -o export --all"
      try await machine.sh("{ \(check); } | grep -a -c -F -f /root/secrets")
    }
  }

  /// The files of the kinds in the contract, which name the settings at the sandbox.
  private static func kindFiles() throws -> [String] {
    let folder = MachineRoot.project.appendingPathComponent("Contract/SDKKinds")
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
      try String(contentsOf: folder.appendingPathComponent("\($0)/kind.toml"), encoding: .utf8)
    }
  }

  /// Uses every secret of all kinds: sign-ins, renewals, refused logins, failing providers and sign-outs. Writes
  /// each secret of at least 12 characters to `/root/secrets`.
  private static let job = #"""
    import json, os, socket, subprocess, sys, tomllib, urllib.request
    secrets = open("/root/secrets", "w")
    def secret(*values):
        for value in values:
            # What is shorter is a word of the messages too.
            if value and len(value) >= 12:
                secrets.write(value + "\n")
        return values[0]
    line = socket.socket(socket.AF_UNIX)
    line.connect("/run/sdkd/sdkd.sock")
    file = line.makefile("rwb")
    def call(method, **params):
        file.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
        file.flush()
        answer = json.loads(file.readline())
        note(answer.get("result"))
        return answer
    def good(method, **params):
        answer = call(method, **params)
        assert "result" in answer, (method, answer)
        return answer["result"]
    def bad(method, **params):
        answer = call(method, **params)
        assert "error" in answer, (method, answer)
        return answer["error"]["data"]["reason"]
    def note(value):
        token = value.get("token") if isinstance(value, dict) else None
        if isinstance(token, dict):
            return note(token)
        if isinstance(token, str):
            secret(token)
            for text in list((value.get("http") or {}).get("headers", {}).values()):
                secret(text.split(" ")[-1])
    def vendor(path, body):
        request = urllib.request.Request("http://127.0.0.1:8787" + path, json.dumps(body).encode())
        return json.loads(urllib.request.urlopen(request).read() or b"{}")
    def mint(*words):
        return secret(subprocess.run(["sdk-sandbox", "mint", *words], check=True, capture_output=True, text=True)
                      .stdout.strip())
    def provide(instance, text, status=0):
        secret(text)
        os.makedirs("/usr/local/libexec/answer.d", exist_ok=True)
        for name, content in ((instance, text), ("status", str(status))):
            with open("/usr/local/libexec/answer.d/" + name, "w") as out:
                out.write(content + "\n")
    kinds = {kind["word"]: kind for kind in map(tomllib.loads, sys.argv[1:])}
    def of(word, **more):
        """The kind with this word, and its settings at the sandbox."""
        own, place = kinds[word]["sandbox"], "://127.0.0.1:8787/" + kinds[word]["sandbox"]["prefix"]
        values = {name: value.replace("{http}", "http" + place).replace("{ws}", "ws" + place) if isinstance(value, str)
                  else value for name, value in own["settings"].items()}
        return kinds[word]["name"], {**values, **more}
    lazy = {"refresh": {"mode": "lazy", "min_interval": 0}}
    settings = {word: of(word) for word in kinds}
    settings["guarded"] = of("salesforce", client_secret=secret("a-client-secret-0001"))
    for name, (kind, values) in settings.items():
        good("instance.create", instance=name, kind=kind, settings={**values, **lazy}, provider={"unit": "answer"})
    unique = secret("alice:unique-id-7781")
    identifier = secret("user-alice-identifier-7f3a")
    grant = vendor("/_grant", {"user": "alice"})
    account = {key: grant[key] for key in ("access_token", "refresh_token", "instance_url", "id")}
    secret(account["access_token"], account["refresh_token"])
    def filled(word, value):
        """A value with the places in its texts filled. A text is a secret, unless it is a URL."""
        if isinstance(value, dict):
            return {name: filled(word, one) for name, one in value.items()}
        if not isinstance(value, str):
            return value
        if "{jwt}" in value:
            value = value.replace("{jwt}", mint("--sdk", kinds[word]["name"], "--external-id", "alice"))
        for name, text in grant.items():
            value = value.replace("{grant.%s}" % name, str(text))
        value = value.replace("{user}", "alice")
        return value if "://" in value else secret(value)
    def sign(direction, word):
        """Signs the user in or out as `kind.toml` says."""
        found = kinds[word]["sandbox"]["sign_" + direction]
        return call(found["method"], instance=word, **filled(word, json.loads(found.get("params", "{}"))))
    def sign_in():
        provide("edna", '{"token": "edna-token-from-provider"}')
        secret("edna-token-from-provider")
        for word, kind in kinds.items():
            if " mint " in kind["sandbox"].get("provider", ""):
                provide(word, mint("--sdk", kind["name"], "--external-id", "alice"))
            answer = sign("in", word)
            assert "result" in answer, (word, answer)
        good("support.setIdentity", instance="support", identity={"type": "jwt", "token": unique})
        good("serviceChat.setAuthenticationSettings", instance="guarded", service="cases", settings={"account": account})
        good("chatCenter.authorize", instance="edna", user={"identifier": identifier, "name": "Alice"},
             auth={"token": secret("edna-token-of-alice"), "signature": secret("edna-signature-0001")}, wait=True)
        good("messagingInApp.setHiddenPreChat", instance="inapp", fields={"order": secret("a-hidden-field-0001")})
    def tokens():
        for name in settings:
            call("token.get", instance=name, http=True)
            call("session.open", instance=name)
    sign_in()
    tokens()
    # Renewed through the provider.
    provide("messaging", mint("--external-id", "alice"))
    provide("support", '{"uniqueId": "%s"}' % secret("alice:unique-id-7782"))
    provide("inapp", mint("--sdk", "inapp", "--sub", "alice"))
    for name in settings:
        call("token.refresh", instance=name)
    tokens()
    # A provider that fails, one that prints nonsense, one for another user.
    leaked = mint("--external-id", "alice")
    for text, status in ((leaked, 1), ('{"token": "%s"' % leaked, 0), (leaked, 77), (mint("--external-id", "eve"), 0)):
        for name in settings:
            provide(name, text, status)
            call("token.refresh", instance=name)
    # Logins that are refused: here, by the signature, by the vendor.
    sign_in()
    forged = mint("--external-id", "mallory", "--secret", secret("a-secret-of-nobody-0123456789abcdef"))
    assert bad("messaging.loginUser", instance="messaging", jwt=forged) == "invalidAuth"
    bad("messaging.loginUser", instance="messaging", jwt=secret("no-jwt-but-a-secret"))
    bad("messaging.loginUser", instance="messaging", jwt=mint("--external-id", "alice", "--ttl", "-60"))
    call("support.setIdentity", instance="support", identity={"type": "jwt", "token": secret("nobody-that-is-known")})
    call("chat.setIdentity", instance="chat", jwt=secret("neither.a.jwt-for-chat"))
    call("serviceChat.setAuthenticationSettings", instance="salesforce", service="cases",
         settings={"instanceUrl": grant["instance_url"], "accessToken": secret("00D-access-token-of-nobody")})
    call("token.get", instance="salesforce")
    bad("messagingInApp.setIdentityToken", instance="inapp", identityToken=secret("no-identity-jwt-but-a-secret"))
    call("messagingInApp.setPassthrough", instance="inapp", accessToken=secret("an-access-token-of-nobody-0001"))
    # Params that can't be: their values are not repeated.
    bad("messaging.loginUser", instance="messaging", jwt={"token": secret("a-token-in-an-object")})
    bad("messaging.loginUser", instance="messaging", jtw=secret("a-token-in-a-member-misspelt"))
    good("storage.put", instance="messaging", key="k", value=secret("a-value-of-the-app-0001"))
    call("push.register", instance="messaging",
         endpoint={"address": secret("push-address-0123456789abcdef"), "type": "fcm"})
    for word in kinds:
        sign("out", word)
    for name in settings:
        good("instance.delete", instance=name)
    """#
}
