import JSONRPC
import SDKClient
import Testing

@testable import sdkctl

/// The verbs for backups and keys, as far as they can run without a system of their own.
@Suite struct KeepingTests {
  @Test func backupAndRotateAskTheDaemon() async {
    let run = Run()
    let copy: JSON = ["name": "monday", "bytes": 40960, "createdAt": "2026-01-02T03:04:05.000Z"]
    #expect(await run.status("backup", "monday", "-o", "jsonl") { _, _ in copy } == 0)
    #expect(run.output == JSONWriter.text(of: copy) + "\n")
    #expect(await run.status("backup") { _, _ in copy } == 0)
    #expect(await run.status("key", "rotate") { _, _ in ["rewrapped": 12] } == 0)
    #expect(run.output.contains("12"))
    #expect(await run.status("-o", "jsonl", "key", "rotate") { _, _ in ["rewrapped": 13] } == 0)
    #expect(run.output.hasSuffix("{\"rewrapped\":13}\n"))
    #expect(
      run.calls == [
        Run.Call(method: "daemon.backup", params: ["name": "monday"]),
        Run.Call(method: "daemon.backup", params: [:]), Run.Call(method: "daemon.rotateKey", params: [:]),
        Run.Call(method: "daemon.rotateKey", params: [:]),
      ])
  }

  @Test("The next steps after a restore or a new root key are for the daemon that was addressed")
  func nextSteps() throws {
    let place = try DaemonPlace(.tenant("acme"))
    #expect(
      RestoreVerb.next(place)
        == "systemctl start sdkd@acme.socket sdkd@acme.service, then sdkctl --tenant acme status")
    #expect(RestoreVerb.next(nil) == "start the daemon, then sdkctl status")
    #expect(
      place.finishRotation == "systemctl restart sdkd@acme.service, then sdkctl --tenant acme key rotate --finish")
    let state = StateKey(isSealed: true, fileOpens: false, keyOpens: false)
    let refusal = state.refusal(isRecovery: false, directory: "/var/lib/sdkd-tenants/acme", place)
    #expect(refusal?.hints.first?.hasPrefix("sdkctl --tenant acme key init --recovery ") == true)
  }

  @Test(arguments: [
    ["key", "rotate", "--outer", "--finish"], ["key", "init", "--user"], ["restore", "copy", "--empty"],
    ["restore", "--socket", "/x"],
    ["restore", ""],
  ]) func refusesWhatCantBeMeant(line: [String]) async {
    let run = Run()
    #expect(await run.status(line) == 2)
    #expect(run.calls.isEmpty)
  }
}
