import Concurrency
import Foundation
import Linux
import Synchronization
import Testing
import Waiting

@testable import sdkctl

/// The keeper of a token file with a real file and real hooks.
@Suite(.timeLimit(.minutes(1))) struct TokenFileKeeperTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sdkd-\(UUID().uuidString)").path
  private let lines = Lines()

  final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private func inFolder(_ body: (String) async throws -> Void) async throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(folder + "/token")
  }

  private func keeper(
    _ path: String, hook: String? = nil, limit: Duration = .seconds(30),
    ask: @escaping @Sendable () async -> TokenFileRules.Answer = { .token(Array("t0ken-of-alice\n".utf8), ttl: 3600) }
  ) -> TokenFileKeeper {
    let lines = lines
    return TokenFileKeeper(
      AtomicFile(path), rules: TokenFileRules(minTTL: 0, isStrict: false),
      hook: hook.map { TokenHook(command: $0, limit: limit) }, report: { lines.add($0) }, ask: ask)
  }

  private func eventually(_ what: String, _ condition: () -> Bool) async throws {
    var patience = Patience()
    while !condition() {
      let isOver = patience.isOver()
      try #require(!isOver, "\(what)")
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  private func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

  @Test("The file is there while it is kept, and the hook runs after each change")
  func life() async throws {
    try await inFolder { path in
      let seen = path + ".seen"
      let keeper = keeper(path, hook: "test -e \(path) && echo there >>\(seen) || echo gone >>\(seen)")
      await keeper.take(.begun)
      try await eventually("the hook has run") { text(seen) == "there\n" }
      #expect(text(path) == "t0ken-of-alice\n")
      #expect(try BoundedFile(reading: path, limit: 100).mode.bits == 0o600)
      await keeper.stop()
      #expect(try await keeper.ending.value() == nil)
      #expect(text(path) == nil && text(seen) == "there\ngone\n")
      #expect(lines.all.isEmpty)
    }
  }

  @Test("A hook gets no token, one runs at a time, and changes meanwhile lead to one more run")
  func hooks() async throws {
    try await inFolder { path in
      let (seen, go) = (path + ".seen", path + ".go")
      let script =
        "mkdir \(path).lock && env >>\(seen) && echo =ran= >>\(seen); "
        + "until test -e \(go); do sleep 0.01; done; rmdir \(path).lock"
      let keeper = keeper(path, hook: script)
      await keeper.take(.begun)
      try await eventually("the hook runs") { text(seen)?.contains("=ran=\n") ?? false }
      for _ in 1...3 {
        await keeper.take(.user)
        try await eventually("the file is written again") { text(path) != nil }
      }
      #expect(FileManager.default.createFile(atPath: go, contents: nil))
      try await eventually("the hook has run again") { text(seen)?.components(separatedBy: "=ran=\n").count == 3 }
      await keeper.stop()
      #expect(try await keeper.ending.value() == nil)
      #expect(text(seen)?.components(separatedBy: "=ran=\n").count == 4, "a last run for the removal")
      #expect(text(seen)?.contains("t0ken-of-alice") == false)
      #expect(lines.all.isEmpty, "\(lines.all)")
    }
  }

  @Test("A hook that hangs is killed with its children, one that fails is reported")
  func badHooks() async throws {
    try await inFolder { path in
      let child = path + ".child"
      let hanging = keeper(path, hook: "sleep 600 & echo $! >\(child); wait", limit: .milliseconds(300))
      await hanging.take(.begun)
      try await eventually("it is reported") { !lines.all.isEmpty }
      #expect(lines.all == ["sdkctl: The hook did not end within 300 ms and was killed."])
      let pid = try #require(text(child).flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) })
      try await eventually("its child has ended") {
        kill(pid, 0) != 0 || text("/proc/\(pid)/stat")?.contains(") Z ") == true
      }
      let failing = keeper(path, hook: "exit 3")
      await failing.take(.begun)
      try await eventually("it is reported") { lines.all.count == 2 }
      #expect(lines.all.last == "sdkctl: The hook ended with status 3.")
    }
  }

  @Test("A file that can't be written ends it with the reason")
  func unwritable() async throws {
    try await inFolder { path in
      let keeper = keeper(path + ".d/token")
      await keeper.take(.begun)
      let failure = try await keeper.ending.value()
      #expect(failure?.reason == "output" && failure?.message.contains("create ") == true)
    }
  }

  @Test("A failure is reported once, however often it comes")
  func reports() async throws {
    try await inFolder { path in
      let calls = Lines()
      let keeper = keeper(path) {
        calls.add("call")
        return .failure(CommandFailure(message: "Sign in.", reason: "notAuthenticated", status: 6))
      }
      for count in 1...4 {
        await keeper.take(.user)
        try await eventually("it was asked") { calls.all.count >= count }
      }
      #expect(lines.all == ["sdkctl: Sign in. (notAuthenticated)"])
      await keeper.stop()
    }
  }
}
