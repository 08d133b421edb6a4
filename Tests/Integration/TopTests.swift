import Foundation
import Glibc
import JSONRPC
import Testing

/// `sdkctl top` against the real daemon.
@Suite struct TopTests {
  @Test func onceShowsWhatGoesOn() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let output = desk.folder.appendingPathComponent("top")
    let top = try Program(
      "sdkctl", ["top", "--once", "--interval", "1"], environment: ["SDKD_SOCKET": desk.socket], output: output,
      log: desk.folder.appendingPathComponent("top.err"))
    while top.exit(within: 0) == nil { try line.call("daemon.info") }
    #expect(top.exit(within: 10) == 0, "\(top.logText)")
    let text = try String(contentsOf: output, encoding: .utf8)
    #expect(text.contains("1 noUser") && text.contains("METHOD"))
    #expect(text.contains("\ndesk      zendesk.messaging  noUser"), "\(text)")
    let row = text.split(separator: "\n").first { $0.hasPrefix("daemon.info") }?.split(separator: " ") ?? []
    #expect(row.count > 3 && row[1] != "0", "\(text)")
    #expect(!text.contains("\u{1B}"))
  }

  @Test func aTerminalIsPutRightAgain() throws {
    let desk = try Desk.open()
    let script = try desk.write(
      "terminal.py",
      """
      import os, pty, select, sys, termios, time
      leader, follower = pty.openpty()
      before = termios.tcgetattr(follower)
      pid = os.fork()
      if pid == 0:
          os.setsid()
          for fd in (0, 1, 2): os.dup2(follower, fd)
          os.environ["TERM"] = "xterm"
          os.execv(sys.argv[1], ["sdkctl", "top", "--interval", "0.2", "--socket", sys.argv[2]])
      def read_until(word, seconds):
          seen, end = b"", time.time() + seconds
          while word not in seen and time.time() < end:
              if select.select([leader], [], [], 0.1)[0]: seen += os.read(leader, 65536)
          return seen
      seen = read_until(b"METHOD", 30)
      print("screen" if b"\\x1b[?1049h" in seen and b"METHOD" in seen else seen)
      print("raw" if not termios.tcgetattr(follower)[3] & termios.ICANON else "cooked")
      if sys.argv[3] == "q": os.write(leader, b"q")
      else: os.kill(pid, int(sys.argv[3]))
      seen = read_until(b"\\x1b[?1049l", 30)
      print("left" if b"\\x1b[?1049l" in seen else seen)
      print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
      print("same" if termios.tcgetattr(follower) == before else "other")
      """)
    for (end, status) in [("q", "0"), ("\(SIGINT)", "0"), ("\(SIGTERM)", "\(128 + SIGTERM)")] {
      let seen = try Vendor.output("/usr/bin/python3", [script.path, Program.path("sdkctl"), desk.socket, end])
      #expect(seen.split(separator: "\n") == ["screen", "raw", "left", Substring(status), "same"], "\(end)")
    }
  }
}
