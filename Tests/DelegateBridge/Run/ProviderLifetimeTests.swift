import Glibc
import Logging
import SDKProtocol
import Testing

@testable import DelegateBridge

/// Providers that do not end in time or are cancelled, and the processes that they leave behind.
@Suite struct ProviderLifetimeTests {
  private let directory: ScriptDirectory

  init() throws { directory = try ScriptDirectory() }

  private func run(_ command: String, milliseconds: Double = 20_000) async throws -> ProviderRun {
    let timeout = try #require(Seconds(milliseconds / 1000))
    let path = directory.path
    let provider = ProviderConfiguration(command: [command], timeout: timeout, workingDirectory: path)
    let invocation = ProviderInvocation(
      provider, try .sample(), inherited: ["PATH": "/usr/bin:/bin"], patience: .seconds(600))
    return await ExecProvider(check: ProgramCheck(), logger: LogCapture().logger).run(invocation)
  }

  private func expectAllGone(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) {
    let pids = directory.words(of: "pids")
    #expect(pids.count == count, sourceLocation: sourceLocation)
    for pid in pids { #expect(!isAlive(pid), sourceLocation: sourceLocation) }
  }

  @Test func hangingOneIsEndedWithItsGroup() async throws {
    let script = try directory.shell("echo $$ >> pids; sleep 600 & echo $! >> pids; sleep 600 & echo $! >> pids; wait")
    let run = try await run(script, milliseconds: 1000)
    #expect(run.ending == .timedOut)
    #expect(run.ending.lastExit == "timeout")
    expectAllGone(3)
  }

  @Test func sigtermIsGivenAChance() async throws {
    let script = try directory.shell("trap 'echo x > done; exit 0' TERM; echo $$ > pids; while :; do sleep 0.05; done")
    let run = try await run(script, milliseconds: 1000)
    #expect(run.ending == .timedOut, "too late all the same")
    #expect(directory.words(of: "done") == ["x"])
    expectAllGone(1)
  }

  @Test func whatIgnoresSIGTERMIsKilled() async throws {
    let script = try directory.shell("trap '' TERM; echo $$ >> pids; sleep 600 & echo $! >> pids; wait; sleep 600")
    let start = ContinuousClock.now
    let run = try await run(script, milliseconds: 1000)
    #expect(run.ending == .timedOut)
    #expect(ContinuousClock.now - start >= .seconds(3))
    expectAllGone(2)
  }

  @Test func closedOutputIsNoEnd() async throws {
    let script = try directory.shell("echo $$ > pids; echo token; exec >&- 2>&- <&-; exec sleep 600")
    let run = try await run(script, milliseconds: 1000)
    #expect(run.ending == .timedOut)
    expectAllGone(1)
  }

  @Test func backgroundChildHoldsNobodyUp() async throws {
    let script = try directory.shell("sleep 600 & echo $! >> pids; echo token")
    let start = ContinuousClock.now
    let run = try await run(script, milliseconds: 120_000)
    #expect(run.ending == .exited(0))
    #expect(String(decoding: run.output, as: UTF8.self) == "token\n")
    #expect(ContinuousClock.now - start < .seconds(120), "it did not wait for its time limit")
    expectAllGone(1)
  }

  @Test func backgroundChildThatIgnoresSignalsIsKilled() async throws {
    let script = try directory.shell("(trap '' TERM HUP; echo $$ >> pids; sleep 600) & echo $! >> pids; echo token")
    #expect(try await run(script).ending == .exited(0))
    for pid in directory.words(of: "pids") { #expect(!isAlive(pid)) }
  }

  @Test func escapedChildThatHoldsTheOutputHoldsNobodyUp() async throws {
    let script = try directory.python(
      """
      import os, signal
      ready, tell = os.pipe()
      if os.fork() == 0:
          os.setsid()
          with open('pid', 'w') as file: file.write(str(os.getpid()))
          os.write(tell, b'.')
          signal.pause()
      os.read(ready, 1)
      print('token')
      """)
    let run = try await run(script)
    #expect(String(decoding: run.output, as: UTF8.self) == "token\n")
    let pid = try #require(directory.words(of: "pid").first)
    #expect(isAlive(pid), "it is the sweep's")
    // The sweep spares the process while runs of other tests that began earlier are in progress, so retry.
    #expect(
      await eventually(within: .seconds(60)) {
        await SubreaperSweep().sweep()
        return !isAlive(pid)
      })
  }

  @Test func cancelledOneIsEndedWithItsGroup() async throws {
    let script = try directory.shell("sleep 600 & echo $$ $! > pids; wait")
    await withTaskGroup(of: ProviderRun?.self) { group in
      group.addTask { try? await run(script) }
      #expect(await eventually { directory.words(of: "pids").count == 2 })
      group.cancelAll()
      #expect(await group.next()??.ending == .cancelled)
    }
    expectAllGone(2)
  }

  @Test func sweepSparesWhatRuns() async throws {
    let script = try directory.shell("echo $$ > pids; while [ ! -e done ]; do sleep 0.02; done; echo token")
    let result = try await withThrowingTaskGroup(of: ProviderRun.self) { group in
      group.addTask { try await run(script) }
      #expect(await eventually { directory.words(of: "pids").count == 1 })
      for _ in 0..<20 { await SubreaperSweep().sweep() }
      try directory.write("", as: "done")
      return try await group.next()
    }
    #expect(result?.ending == .exited(0))
  }

  @Test func manyAtATime() async throws {
    let script = try directory.shell("read line; echo token; echo trouble >&2")
    let endings = try await withThrowingTaskGroup(of: ProviderEnding.self) { group in
      for _ in 0..<60 { group.addTask { try await run(script).ending } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(endings == Array(repeating: .exited(0), count: 60))
  }
}
