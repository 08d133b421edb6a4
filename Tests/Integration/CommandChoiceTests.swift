import Foundation
import Glibc
import JSONRPC
import Testing

/// The choice of the daemon and of the token by `sdkctl`.
@Suite struct CommandChoiceTests {
  /// A command prefix that mounts empty folders over `/var/lib` and `/etc`, which `sdkctl` could change.
  private static let harmless = [
    "/usr/bin/unshare", "--mount", "/bin/sh", "-c",
    "mount -t tmpfs none /var/lib && mount -t tmpfs none /etc && exec \"$@\"", "sh",
  ]

  @Test(
    "Key and restore refuse a daemon with a socket of its own",
    .enabled(if: getuid() == 0, "needs root to hide the machine's own folders"),
    arguments: [["key", "init"], ["key", "rotate", "--outer"], ["key", "rotate", "--finish"], ["restore"]],
    [true, false])
  func aSocketOfItsOwn(_ words: [String], isOption: Bool) throws {
    let desk = try Desk()
    let run = try desk.sdkctl(
      words + (isOption ? ["--socket", desk.socket] : []), environment: isOption ? ["SDKD_SOCKET": ""] : [:],
      before: Self.harmless)
    #expect(run.status == 2, "\(run.error)")
    #expect(run.error.contains("--system") || run.error.contains("--state"), "\(run.error)")
    #expect(run.output == "")
  }

  @Test(
    "A command that changes files says which daemon is meant, and asks on a terminal",
    .enabled(if: getuid() == 0, "needs root to hide the machine's own folders"))
  func theUserIsAsked() throws {
    let desk = try Desk()
    let shown = desk.folder.appendingPathComponent("shown")
    let answer = Glibc.open(try desk.write("answer", "n\n").path, O_RDONLY | O_CLOEXEC)
    defer { close(answer) }
    let words = Self.harmless + ["/usr/bin/script", "-qec", "'\(Program.path("sdkctl"))' restore", "/dev/null"]
    let program = try Program(
      words[0], Array(words.dropFirst()), environment: ["SDKD_SOCKET": "", "XDG_RUNTIME_DIR": ""], output: shown,
      log: desk.folder.appendingPathComponent("log"), input: answer)
    #expect(program.exit(within: 60) == 1)
    let text = try String(contentsOf: shown, encoding: .utf8)
    #expect(text.contains("this is for the system's daemon (sdkd.service)") && text.contains("[y/N]"), "\(text)")
    #expect(text.contains("Nothing was changed."), "\(text)")
  }

  @Test(
    "In a container without systemd no command advises to use systemd",
    .enabled(if: getuid() == 0, "needs root to hide the machine's own folders"),
    arguments: [
      ["doctor"], ["list"], ["status"], ["logs"], ["audit"], ["key", "init"], ["key", "rotate", "--outer"],
      ["key", "rotate", "--finish"], ["restore", "monday"], ["restore", "--empty"], ["backup", "list"],
    ])
  func inAContainer(_ words: [String]) throws {
    let desk = try Desk()
    let withoutSystemd = [
      "/usr/bin/unshare", "--mount", "/bin/sh", "-c", "mount -t tmpfs none /run && exec \"$@\"", "sh",
    ]
    let run = try desk.sdkctl(
      words + ["--system"], environment: ["SDKD_SOCKET": "", "container": "oci"],
      before: Self.harmless + withoutSystemd)
    #expect(run.output + run.error != "")
    #expect(!(run.output + run.error).contains(/systemctl|journalctl|sdkd\.service/), "\(run.output)\(run.error)")
  }

  @Test("A token that lives shorter than --min-ttl is warned of, and refused with --strict")
  func minTTL() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let jwt = try Vendor.mint("alice", ttl: 600)
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
    let warned = try desk.sdkctl(["token", "desk", "--min-ttl", "2h"])
    #expect(warned.status == 0 && warned.output == jwt + "\n")
    #expect(warned.error.contains("--min-ttl"), "\(warned.error)")
    let run = try desk.sdkctl(["exec", "desk", "--min-ttl", "2h", "--", "/bin/sh", "-c", "echo $SDKD_TOKEN"])
    #expect(run.status == 0 && run.output == jwt + "\n" && run.error.contains("--min-ttl"), "\(run.error)")
    #expect(try desk.sdkctl(["open", "desk", "--min-ttl", "2h"]).error.contains("--min-ttl"))
    #expect(try desk.sdkctl(["token", "desk", "--min-ttl", "5m", "--strict"]).error == "")
    for words in [["token", "desk"], ["exec", "desk"], ["open", "desk"]] {
      let strict = try desk.sdkctl(
        words + ["--min-ttl", "2h", "--strict"] + (words[0] == "exec" ? ["--", "/bin/echo", "ran"] : []))
      #expect(strict.status == (words[0] == "exec" ? 125 : 75) && strict.output == "", "\(strict.error)")
    }
  }

  @Test("An error that is not retryable never exits with 75")
  func exitStatus() throws {
    let desk = try Desk.open(
      configuration: "[[access.create]]\nwho = \"uid:1001\"\nprefix = \"\"\nmax = 1\n")
    for (id, status) in [("one", 0), ("two", 1)] as [(String, Int32)] {
      let run = try desk.sdkctl(
        [
          "create", id, "--kind", "zendesk.messaging", "--setting", "base_url=https://desk.zendesk.com", "--setting",
          "app_id=\(Desk.app)",
        ], before: ["/usr/bin/setpriv", "--reuid=1001", "--regid=1001", "--clear-groups"])
      #expect(run.status == status, "\(run.error)")
    }
  }

  @Test(
    "A socket that the first process listens on is not root's unless it is below /run/sdkd",
    .enabled(if: getuid() == 0, "needs root to begin a namespace of processes"))
  func socketOfAnotherService() throws {
    let desk = try Desk()
    // As with systemd, the first process listens and passes the socket to a service that runs as another user.
    let script = try desk.write(
      "activate.py",
      """
      import os, signal, socket, subprocess, sys
      path = sys.argv[1]
      listener = socket.socket(socket.AF_UNIX)
      listener.bind(path)
      os.chmod(path, 0o666)
      listener.listen()
      service = os.fork()
      if service == 0:
          os.setgid(65534); os.setuid(65534); signal.alarm(30)
          connection, _ = listener.accept()
          print("received", len(connection.recv(65536)), flush=True)
          os._exit(0)
      listener.close()
      ended = subprocess.run(sys.argv[2:] + ["--socket", path, "status", "--timeout", "5s"])
      os.waitpid(service, 0)
      sys.exit(ended.returncode)
      """)
    let run = try desk.sdkctl(
      [], environment: [:],
      before: [
        "/usr/bin/unshare", "--pid", "--fork", "--mount-proc", "/usr/bin/python3", script.path,
        desk.folder.appendingPathComponent("foreign").path,
      ])
    #expect(run.status == 4, "\(run.error)")
    #expect(run.output == "received 0\n", "nothing was sent: \(run.output)")
  }
}
