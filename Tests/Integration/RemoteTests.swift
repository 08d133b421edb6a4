import Foundation
import Glibc
import JSONRPC
import Testing

/// `sdkctl --host`, which runs `sdkctl stdio-bridge` by ssh.
@Suite struct RemoteTests {
  /// Writes an `ssh` that runs the command on this machine, as a remote shell does, and notes its arguments. Returns
  /// its folder.
  private func standIn(_ desk: Desk, socket: String? = nil) throws -> String {
    let programs = URL(fileURLWithPath: Program.path("sdkctl")).deletingLastPathComponent().path
    try desk.write(
      "bin/ssh",
      """
      #!/bin/sh
      echo "$@" >>'\(desk.folder.path)/ssh.log'
      while [ "$1" != -- ]; do shift; done
      shift 2
      if [ -e '\(desk.folder.path)/unreachable' ]; then
        echo "ssh: connect to host: No route to host" >&2
        # The end of a connection can be seen before that of its process.
        exec <&- >&-
        sleep 0.3
        exit 255
      fi
      export PATH='\(programs)':/usr/bin:/bin SDKD_SOCKET='\(socket ?? desk.socket)'
      exec sh -c "$*"
      """, mode: 0o755)
    return desk.folder.appendingPathComponent("bin").path
  }

  private func run(_ desk: Desk, _ folder: String, _ words: [String], input: String? = nil) throws -> Desk.CommandRun {
    // The local machine has no daemon: whatever answers is at the other end.
    try desk.sdkctl(words, input: input, environment: ["PATH": "\(folder):/usr/bin:/bin", "SDKD_SOCKET": "/nowhere"])
  }

  @Test("Verbs, files and output stay local; the calls go to the other machine")
  func verbs() throws {
    let desk = try Desk.open()
    let ssh = try standIn(desk)
    let settings = try desk.write(
      "settings.json",
      JSONWriter.text(of: ["base_url": .string(try desk.vendor.messaging), "app_id": .string(Desk.app)]))
    let made = try run(
      desk, ssh,
      ["-H", "admin@kiosk-7", "create", "desk", "--kind", "zendesk.messaging", "--settings-file", settings.path])
    #expect(made.status == 0, "\(made.error)")
    let jwt = try Vendor.mint("alice")
    #expect(try run(desk, ssh, ["login", "desk", "--host", "kiosk-7"], input: jwt + "\n").status == 0)
    #expect(try run(desk, ssh, ["-H", "kiosk-7", "token", "desk"]).output == jwt + "\n")
    let missing = try run(desk, ssh, ["-H", "kiosk-7", "show", "dsk"])
    #expect(missing.status == 5 && missing.error.contains("did you mean desk?"), "\(missing.error)")
    let log = try String(contentsOf: desk.folder.appendingPathComponent("ssh.log"), encoding: .utf8)
    #expect(log.hasPrefix("-xT -- admin@kiosk-7 sdkctl stdio-bridge\n"), "\(log)")
    #expect(!log.contains(jwt), "no secret is in the arguments")
  }

  @Test("The daemon on the other machine can be chosen, with a path that the remote shell takes unchanged")
  func locations() throws {
    let desk = try Desk.open()
    let ssh = try standIn(desk, socket: "/nowhere")
    let odd = desk.folder.appendingPathComponent("a'b $(touch made)").path
    #expect(symlink(desk.socket, odd) == 0)
    let run = try run(desk, ssh, ["status", "-H", "kiosk-7", "--socket", odd])
    #expect(run.status == 0, "\(run.error)")
    #expect(!FileManager.default.fileExists(atPath: "made"))
  }

  @Test("Events are followed over ssh")
  func following() throws {
    let desk = try Desk.open()
    let ssh = try standIn(desk)
    let output = desk.folder.appendingPathComponent("followed")
    let follower = try Program(
      "sdkctl", ["-H", "kiosk-7", "events", "--follow", "-o", "jsonl"],
      environment: ["PATH": "\(ssh):/usr/bin:/bin"], output: output,
      log: desk.folder.appendingPathComponent("follow.err"))
    func seen() -> String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }
    let line = try desk.connect()
    var number = 0
    try eventually("the follower is there", within: 30) {
      number += 1
      try desk.create("early\(number)", on: line)
      return seen().contains("early")
    }
    follower.signal(SIGINT)
    #expect(follower.exit(within: 10) == 0)
  }

  @Test("A host that ssh can't reach: ssh's own message, once, and its status 255")
  func unreachable() throws {
    let desk = try Desk.open()
    let ssh = try standIn(desk)
    try desk.write("unreachable", "")
    for words in [["list"], ["delete", "desk"], ["events", "--follow"], ["wait", "desk"]] {
      let run = try run(desk, ssh, ["-H", "kiosk-7"] + words)
      #expect(run.status == 255, "\(words): \(run.error)")
      #expect(run.error == "ssh: connect to host: No route to host\n", "\(words)")
    }
  }

  @Test("Without a daemon at the other end its message and status come through")
  func noDaemon() throws {
    let desk = try Desk()
    let ssh = try standIn(desk)
    let run = try run(desk, ssh, ["-H", "kiosk-7", "list"])
    #expect(run.status == 3 && run.error.contains("No daemon answers on \(desk.socket)"), "\(run.error)")
  }

  @Test("Commands about the machine itself refuse a host")
  func localCommands() throws {
    let desk = try Desk()
    let ssh = try standIn(desk)
    for words in [
      ["doctor"], ["whoami"], ["audit"], ["logs"], ["key", "init"], ["restore"], ["backup", "list"],
      ["config", "check"],
    ] {
      let run = try run(desk, ssh, ["-H", "kiosk-7"] + words)
      #expect(
        run.status == 2 && run.error.contains("ssh kiosk-7 sdkctl \(words.joined(separator: " "))"), "\(run.error)")
    }
    #expect(try run(desk, ssh, ["-H", "-oProxyCommand=x", "list"]).status == 2)
    #expect(!FileManager.default.fileExists(atPath: desk.folder.appendingPathComponent("ssh.log").path))
  }

  @Test("The bridge half-closes: answers that are under way still come")
  func halfClose() throws {
    let desk = try Desk.open()
    let requests =
      (1...300).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"rpc.discover"}"# }.joined(separator: "\n") + "\n"
    let run = try desk.sdkctl(["stdio-bridge"], input: requests)
    #expect(run.status == 0, "\(run.error)")
    #expect(run.output.split(separator: "\n").count == 300)
  }
}
