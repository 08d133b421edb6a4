import ArgumentParser
import SDKClient
import Testing

@testable import sdkctl

/// The time limits of calls and of other programs.
@Suite struct CallBudgetTests {
  @Test("Calls share the time of a command")
  func sharing() async throws {
    let budget = CallBudget(.seconds(60))
    let first = try await budget.spend { $0 }
    #expect(first == .seconds(60))
    try await budget.spend { _ in try await Task.sleep(for: .milliseconds(5)) }
    #expect(budget.left < .seconds(60))
    #expect(CallBudget(.zero).left == .zero)
  }

  @Test("A verb without --timeout waits for 60 s, and with it for no longer than that")
  func standard() throws {
    func context(_ words: [String]) throws -> CommandContext {
      let verb = try #require(try CommandRoot.parseAsRoot(words) as? any Verb)
      let output = Output { _ in }
      return CommandContext(verb.global, output, output, Input(isTerminal: false) { _ in [] }, nil)
    }
    #expect(try context(["list"]).budget.left == .seconds(60))
    #expect(try context(["list", "--timeout", "3s"]).budget.left == .seconds(3))
    #expect(try context(["doctor"]).limited(to: Doctor.patience).budget.left == .seconds(3))
    #expect(try context(["doctor", "--timeout", "20s"]).limited(to: Doctor.patience).budget.left == .seconds(20))
  }

  @Test("A program that runs too long is killed")
  func lateProgram() throws {
    for script in ["sleep 1000", "exec >&- 2>&-; sleep 1000"] {
      #expect(throws: ChildProcess.Failure.self) {
        try ChildProcess.run(["sh", "-c", script], until: .now + .milliseconds(50))
      }
    }
    #expect(try ChildProcess.run(["echo", "word"], until: .now + .seconds(60)).output == "word\n")
  }
}
