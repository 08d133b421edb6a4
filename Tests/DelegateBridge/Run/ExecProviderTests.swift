import Glibc
import JSONRPC
import Logging
import SDKProtocol
import Testing

@testable import DelegateBridge

/// Runs of real programs.
@Suite struct ExecProviderTests {
  private let directory: ScriptDirectory
  private let log = LogCapture()

  init() throws { directory = try ScriptDirectory() }

  private func run(
    _ command: [String], inherited: [String: String] = ["PATH": "/usr/bin:/bin"], question: BridgeQuestion? = nil,
    timeout: UInt32 = 20, change: (inout ProviderConfiguration) -> Void = { _ in }
  ) async throws -> ProviderRun {
    var provider = ProviderConfiguration(command: command, timeout: Seconds(literal: timeout))
    change(&provider)
    let invocation = ProviderInvocation(
      provider, try question ?? .sample(), inherited: inherited, patience: .seconds(600))
    return await ExecProvider(check: ProgramCheck(), logger: log.logger).run(invocation)
  }

  private func text(_ run: ProviderRun) -> String { String(decoding: run.output, as: UTF8.self) }

  @Test func answers() async throws {
    let run = try await run([directory.shell("echo the-token $1"), "argument with spaces"])
    #expect(run.ending == .exited(0))
    #expect(text(run) == "the-token argument with spaces\n")
  }

  @Test(arguments: [1, 2, 75, 77, 126, 255] as [Int32]) func exitStatus(status: Int32) async throws {
    let run = try await run([directory.shell("exit \(status)")])
    #expect(run.ending == .exited(status))
    #expect(run.ending.lastExit == "\(status)")
  }

  @Test func signal() async throws {
    let run = try await run([directory.shell("kill -9 $$")])
    #expect(run.ending == .signalled(9))
    #expect(run.ending.lastExit == "signal 9")
  }

  @Test func shellText() async throws {
    let run = try await run(["printf '%s' \"$ORG\" | tr a-z A-Z"]) {
      $0.shell = true
      $0.environment = ["ORG": "acme"]
    }
    #expect(text(run) == "ACME")
  }

  @Test func inputIsTheQuestionOnOneLine() async throws {
    let question = try BridgeQuestion.sample(.invalidAuth)
    let run = try await run([directory.shell("cat")], question: question)
    #expect(run.ending == .exited(0), "its input has an end")
    #expect(text(run) == JSONWriter.text(of: question.json) + "\n")
  }

  @Test func inputNeedNotBeRead() async throws {
    let large = try BridgeQuestion.sample(externalId: String(repeating: "x", count: 100_000))
    for script in ["echo ok", "exec <&-; echo ok", "head -c 10 >/dev/null; echo ok"] {
      let run = try await run([directory.shell(script)], question: large)
      #expect(run.ending == .exited(0))
      #expect(text(run) == "ok\n")
    }
    let whole = try await self.run([directory.shell("wc -c")], question: large)
    #expect(text(whole).split(separator: "\n").first.flatMap { Int($0) } ?? 0 > 100_000)
  }

  @Test func environmentIsClean() async throws {
    let inherited = [
      "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/root", "NOTIFY_SOCKET": "/run/x", "LISTEN_FDS": "1",
      "WATCHDOG_USEC": "1", "CREDENTIALS_DIRECTORY": "/x", "JOURNAL_STREAM": "1:2", "TZ": "UTC", "SECRET": "s",
      "LD_PRELOAD": "/x.so",
    ]
    let run = try await run(
      ["/usr/bin/env"], inherited: inherited, question: .sample(service: "main")
    ) {
      $0.environment = ["ORG": "acme", "HOME": "/srv", "LD_LIBRARY_PATH": "/x"]
      $0.passEnvironment = ["TZ", "UNSET", "LISTEN_FDS"]
    }
    let lines = Set(text(run).split(separator: "\n").map(String.init).filter { !$0.hasPrefix("SDKD_RUN=") })
    #expect(
      lines == [
        "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/srv", "TZ=UTC", "ORG=acme", "SDKD_INSTANCE=front-desk",
        "SDKD_KIND=messaging", "SDKD_SERVICE=main", "SDKD_QUESTION=getToken", "SDKD_ATTEMPT=2", "SDKD_EXTERNAL_ID=u-1",
      ])
  }

  @Test func processIsClean() async throws {
    // Descriptors without close-on-exec, as a careless library would leave them.
    let leaked = try (0..<5).map { _ in try #require(Optional(open("/dev/null", O_RDONLY))) }
    defer { for file in leaked { close(file) } }
    let run = try await run([
      directory.python(
        """
        import os, signal, sys
        print(sorted(int(f) for f in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + f)))
        print(os.getpid() == os.getpgid(0) == os.getsid(0))
        print(os.getcwd())
        print(signal.pthread_sigmask(signal.SIG_BLOCK, []))
        print(all(os.path.realpath('/proc/self/fd/%d' % f).find('pipe:') >= 0 for f in (0, 1, 2)))
        """)
    ])
    #expect(text(run) == "[0, 1, 2]\nTrue\n/\nset()\nTrue\n")
  }

  @Test func workingDirectory() async throws {
    let path = directory.path
    let run = try await run([directory.shell("pwd")]) { $0.workingDirectory = path }
    #expect(text(run) == path + "\n")
    let missing = try await self.run([directory.shell("pwd")]) { $0.workingDirectory = "/none" }
    #expect(missing.ending.lastExit == "notStarted")
  }

  @Test func outputLimit() async throws {
    let fits = try await run([directory.shell("head -c 65536 /dev/zero")])
    #expect((fits.ending, fits.output.count) == (.exited(0), 65_536))
    let over = try await run([directory.shell("head -c 65537 /dev/zero")])
    #expect(over.ending == .tooMuchOutput)
    let flood = try await run([directory.shell("yes")])
    #expect(flood.ending == .tooMuchOutput)
    #expect(flood.ending.lastExit == "output")
    let small = try await run([directory.shell("echo 123456")]) { $0.maxOutput = .kibibytes(0) }
    #expect(small.ending == .tooMuchOutput)
  }

  @Test func standardErrorGoesToTheLogMasked() async throws {
    let script = """
      echo 'no connection' >&2
      echo 'got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln' >&2
      echo 'password=hunter2 Bearer abcdef 0123456789abcdef0123456789abcdef' >&2
      printf 'no end' >&2
      echo token
      """
    let run = try await run([directory.shell(script)])
    #expect(run.ending == .exited(0))
    #expect(
      log.lines.map(\.text) == [
        "no connection", "got ‹masked›", "password=‹masked› Bearer ‹masked› ‹masked›", "no end",
      ])
    #expect(log.lines.first?.metadata["instance"] == "front-desk")
    #expect(log.lines.first?.metadata["kind"] == "messaging")
    #expect(log.lines.first?.metadata["provider"] == .string("\(directory.path)/provider"))
  }

  @Test func standardErrorIsDrainedBeyondWhatIsKept() async throws {
    let run = try await run([directory.shell("yes 'a line' | head -c 3000000 >&2; echo token")])
    #expect((run.ending, text(run)) == (.exited(0), "token\n"))
    #expect(log.lines.count < 700)
    #expect(log.lines.last?.text == "… and \(3_000_000 - 4096) bytes more, which are not kept")
  }

  @Test func whatMayNotRunIsNotRun() async throws {
    let writable = try await run([directory.shell("touch done", mode: 0o777)]) { [directory] in
      $0.workingDirectory = directory.path
    }
    #expect(writable.ending.lastExit == "notAllowed")
    let missing = try await run(["\(directory.path)/none"])
    #expect(missing.ending.lastExit == "notStarted")
    let noInterpreter = try await run([directory.write("#!/none/interpreter\n")])
    #expect(noInterpreter.ending.lastExit == "notStarted")
    #expect(access("\(directory.path)/done", F_OK) != 0)
  }

  @Test func nothingIsLeftOpen() async throws {
    let script = try directory.shell("echo token")
    _ = try await run([script])
    let pipes = { () -> Int in
      (0..<1024).count { number in
        var status = stat()
        return fstat(Int32(number), &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
      }
    }
    let before = pipes()
    for _ in 0..<10 { _ = try await run([script]) }
    // Other tests run providers at the same time: each holds three pipes for a moment.
    #expect(await eventually { pipes() <= before })
  }
}
