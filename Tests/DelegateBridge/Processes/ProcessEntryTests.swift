import Glibc
import Testing

@testable import DelegateBridge

@Suite struct ProcessEntryTests {
  @Test func readsNamesWithParenthesesAndSpaces() throws {
    let line = "42 (a) b (c) Z 7 40 41 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 99 0"
    let entry = try #require(ProcessEntry(stat: line))
    #expect((entry.pid, entry.state, entry.parent, entry.group, entry.session) == (42, "Z", 7, 40, 41))
    #expect(entry.start == 123_456)
  }

  @Test(arguments: [
    "", "42", "42 (a", "x (a) S 1 1 1", "42 (a) S 1", ")(",
    "42 (a) Zx 7 40 41 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 99 0",
  ])
  func refuses(line: String) {
    #expect(ProcessEntry(stat: line) == nil)
  }

  @Test func knowsItself() throws {
    let own = try #require(ProcessTable().entry(of: getpid()))
    #expect(own.parent == getppid())
    #expect(ProcessTable().entry(of: -1) == nil)
    let run = RunningProviders.shared.begin()
    defer { RunningProviders.shared.end(run) }
    let start = try #require(RunningProviders.shared.oldestStart)
    #expect(start >= own.start)
  }

  @Test func oldestRunDecides() throws {
    let running = RunningProviders()
    #expect(running.oldestStart == nil)
    let first = running.begin()
    let oldest = try #require(running.oldestStart)
    let second = running.begin()
    #expect(running.oldestStart == oldest)
    running.end(first)
    #expect(try #require(running.oldestStart) >= oldest)
    running.end(second)
    #expect(running.oldestStart == nil)
  }
}
