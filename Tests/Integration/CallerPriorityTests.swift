import Foundation
import Glibc
import JSONRPC
import Testing

/// The priority of the threads that serve callers.
@Suite struct CallerPriorityTests {
  /// Whether this process has `CAP_SYS_NICE`, which has the effect of `LimitNICE=`.
  private static let maySetNice: Bool = {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let mask = status.firstMatch(of: /CapEff:\s*([0-9a-f]+)/)?.1
    return mask.flatMap { UInt64($0, radix: 16) }.map { $0 >> 23 & 1 == 1 } ?? false
  }()

  /// Returns the names of the daemon's threads with the nice value of callers.
  private func preferred(_ desk: Desk) throws -> [String] {
    let pid = try #require(desk.daemon?.pid)
    // A thread may end meanwhile.
    return try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")
      .compactMap { try? Self.nice("/proc/\(pid)/task/\($0)/stat") }.filter { $0.value == -10 }.map { String($0.name) }
  }

  /// Returns the name and the nice value of a thread from its `stat` in `/proc`.
  private static func nice(_ path: String) throws -> (name: Substring, value: Int?) {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let parts = text.split(separator: ")")
    let fields = parts.last?.split(separator: " ") ?? []
    return (parts.first?.split(separator: "(").last ?? "", fields.count > 16 ? Int(fields[16]) : nil)
  }

  /// Begins the renewals of twelve instances, whose providers wait for the file `go`. Each writes its nice value.
  private func beginRush(_ desk: Desk, on line: Line) throws -> [Int] {
    let folder = desk.folder.path
    try desk.write("token", try Vendor.mint("alice", ttl: 7200))
    let provider = try desk.provider(
      "nice > '\(folder)/nice'\nwhile [ ! -e '\(folder)/go' ]; do sleep 0.05; done\ncat '\(folder)/token'")
    let jwt = JSON.string(try Vendor.mint("alice"))
    return try (0..<12).map { number in
      try desk.create("i\(number)", on: line, settings: ["realtime": "off"], provider: provider)
      try line.call("messaging.loginUser", ["instance": .string("i\(number)"), "jwt": jwt])
      return line.begin("token.refresh", ["instance": .string("i\(number)")])
    }
  }

  @Test(
    "During a rush of work only the event loops of callers have the better priority, and no provider inherits it",
    .enabled(if: maySetNice, "needs CAP_SYS_NICE"))
  func preferred() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    #expect(try preferred(desk).isEmpty)
    let calls = try beginRush(desk, on: line)
    try eventually("two threads are preferred") {
      try preferred(desk).map { $0.prefix(9) } == ["NIO-ELT-1", "NIO-ELT-1"]
    }
    try desk.write("go", "")
    for call in calls { #expect(try line.answer(call, within: 60)["error"] == nil) }
    let text = try String(contentsOf: desk.folder.appendingPathComponent("nice"), encoding: .utf8)
    #expect(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)).map { $0 > -10 } == true, "\(text)")
    try eventually("the usual priority is back") { try preferred(desk).isEmpty }
  }

  @Test(
    "Where the system does not allow it, the daemon serves with the usual priority, and its log says so",
    .enabled(if: getuid() == 0, "needs root to start a daemon of another user"))
  func refused() throws {
    let desk = try Desk()
    try desk.write("sdkd.toml", "[log]\nlevel = \"debug\"\n")
    guard chown(desk.folder.path, 65534, 65534) == 0 else { throw Program.Failure(description: "chown") }
    try desk.start(environment: ["STATE_DIRECTORY": desk.state.path], uid: 65534)
    let line = try desk.connect()
    let jwt = JSON.string(try Vendor.mint("alice"))
    let calls = try (0..<12).map { number in
      try desk.vendor.script(["route": "POST /v2/apps/*/login", "delayMs": 2000, "passThrough": true])
      try desk.create("i\(number)", on: line, settings: ["realtime": "off"])
      return line.begin("messaging.loginUser", ["instance": .string("i\(number)"), "jwt": jwt])
    }
    try eventually("the log says so") {
      desk.logs.contains("The event loops have the usual priority: sched_setattr: ")
    }
    #expect(try preferred(desk).isEmpty)
    for call in calls { _ = try line.answer(call, within: 60) }
  }
}
