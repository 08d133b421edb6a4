import Foundation
import Glibc
import JSONRPC
import Testing

/// Roles, with real processes of other users. Needs root to become them.
@Suite(.enabled(if: getuid() == 0, "needs root to start processes of other users"))
struct AccessTests {
  /// A call by a process with this uid; the answer's whole line.
  private func call(_ desk: Desk, uid: Int, _ method: String, _ params: JSON) throws -> JSON {
    let script = """
      import os, socket, sys
      os.setgroups([])
      os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
      s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); f = s.makefile("rwb")
      f.write(sys.argv[3].encode() + b"\\n"); f.flush()
      sys.stdout.write(f.readline().decode())
      """
    let file = try desk.write("call.py", script)
    let request = JSONWriter.text(of: ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params])
    let runner = try desk.write(
      "call", "#!/bin/sh\nexec python3 '\(file.path)' '\(desk.socket)' \(uid) \"$1\"\n", mode: 0o755)
    let out = desk.folder.appendingPathComponent("out-\(UUID().uuidString)")
    let program = try Program(runner.path, [request], output: out, log: desk.folder.appendingPathComponent("err"))
    guard program.exit(within: 30) == 0 else { throw Program.Failure(description: program.logText) }
    return try JSONParser.parse(try Data(contentsOf: out))
  }

  @Test func aHiddenInstanceAnswersAsAMissingOne() throws {
    let desk = try Desk.open()
    try desk.create("secret", on: try desk.connect())
    for method in ["token.get", "instance.get", "session.open", "instance.delete", "storage.list", "token.refresh"] {
      let hidden = try call(desk, uid: 65534, method, ["instance": "secret"])
      let missing = try call(desk, uid: 65534, method, ["instance": "nobody"])
      #expect(hidden["error"]?["code"] == -32002)
      let text = JSONWriter.text(of: hidden).replacingOccurrences(of: "secret", with: "nobody")
      #expect(text == JSONWriter.text(of: missing), "\(method)")
    }
    #expect(try call(desk, uid: 65534, "instance.list", [:])["result"]?["instances"] == [])
    #expect(try call(desk, uid: 65534, "events.list", [:])["result"]?["events"] == [])
  }

  @Test func rolesAllowWhatTheySay() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, provider: try desk.mintingProvider(),
      access: ["observe": ["uid:1001"], "use": ["uid:1002"], "control": ["uid:1003"]])
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    let jwt = JSON.string(try Vendor.mint("alice"))
    func reason(_ uid: Int, _ method: String, _ params: JSONObject = [:]) throws -> String? {
      try call(desk, uid: uid, method, .object((["instance": "desk"] as JSONObject).merged(with: params)))["error"]?[
        "data"]?["reason"]?
        .stringValue
    }
    #expect(try reason(1001, "instance.get") == nil)
    #expect(try reason(1001, "token.get") == "accessDenied")
    #expect(try reason(1002, "token.get") == nil)
    #expect(try reason(1002, "messaging.loginUser", ["jwt": jwt]) == "accessDenied")
    #expect(try reason(1003, "messaging.loginUser", ["jwt": jwt]) == nil)
    #expect(try reason(1003, "instance.delete") == "accessDenied")
    #expect(try reason(1004, "instance.get") == "instanceNotFound")
    func attaching(_ uid: Int, _ id: String) throws -> JSON {
      try call(desk, uid: uid, "delegate.attach", ["instances": [.string(id)]])
    }
    #expect(try attaching(1002, "desk")["error"]?["code"] == -32001)
    #expect(try attaching(1003, "desk")["result"] == [:])
    let missing = JSONWriter.text(of: try attaching(1004, "nobody"))
    #expect(missing.contains("instanceNotFound"))
    let hidden = JSONWriter.text(of: try attaching(1004, "desk"))
    #expect(hidden.replacingOccurrences(of: "desk", with: "nobody") == missing)
    // The provider is a program that the daemon runs: admins alone see it.
    #expect(try call(desk, uid: 1001, "instance.get", ["instance": "desk"])["result"]?["provider"] == nil)
    #expect(try line.call("instance.get", ["instance": "desk"])["provider"] != nil)
  }

  @Test func creatingTakesARule() throws {
    let desk = try Desk.open(
      configuration:
        "[[access.create]]\nwho = \"uid:1001\"\nprefix = \"kiosk-\"\nmax = 1\n[network]\nallow = [\"example.com\"]\n")
    func create(_ uid: Int, _ id: String, _ more: JSONObject = [:]) throws -> JSON {
      let base: JSONObject = [
        "instance": .string(id), "kind": "zendesk.messaging",
        "settings": ["base_url": "https://desk.example.com/sc", "app_id": "a"],
      ]
      return try call(desk, uid: uid, "instance.create", .object(base.merged(with: more)))
    }
    #expect(try create(1002, "kiosk-1")["error"]?["code"] == -32001)
    #expect(try create(1001, "other-1")["error"]?["code"] == -32001)
    #expect(try create(1001, "kiosk-1", ["provider": ["command": ["/bin/true"]]])["error"]?["code"] == -32001)
    #expect(
      try create(1001, "kiosk-1", ["settings": ["base_url": "http://127.0.0.1:1/", "app_id": "a"]])["error"]?["code"]
        == -32001)
    #expect(
      try create(1001, "kiosk-1", ["settings": ["base_url": "https://evil.test/", "app_id": "a"]])["error"]?["code"]
        == -32001)
    #expect(try create(1001, "kiosk-1")["result"]?["instance"] == "kiosk-1")
    #expect(try create(1001, "kiosk-2")["error"]?["data"]?["reason"] == "tooManyInstances")
    #expect(try call(desk, uid: 1001, "instance.delete", ["instance": "kiosk-1"])["result"] == [:])
  }
}
