import SDKProtocol
import Testing

@testable import DelegateBridge

/// The whole bridge with real programs.
@Suite struct LiveBridgeTests {
  private let directory: ScriptDirectory
  private let log = LogCapture()
  private let key = BridgeKey(instance: "uuid")

  init() throws { directory = try ScriptDirectory() }

  private func provider(_ command: String, format: ProviderFormat = .auto) -> ProviderConfiguration {
    ProviderConfiguration(
      command: [command], format: format, timeout: Seconds(literal: 20), workingDirectory: directory.path)
  }

  private func ask(
    _ bridge: ProviderBridge, _ command: String, format: ProviderFormat = .auto
  ) async throws -> BridgeAnswer {
    try await bridge.ask(.sample(), of: key, provider: provider(command, format: format), owner: 1)
  }

  @Test func answersFromARealProgram() async throws {
    let bridge = ProviderBridge(logger: log.logger)
    let script = try directory.python(
      """
      import datetime, json, sys
      question = json.load(sys.stdin)
      print(json.dumps({'token': question['question'] + '-' + question['user']['externalId'], 'expiresAt': 1790000000}))
      """)
    let answer = try await ask(bridge, script)
    #expect(answer.token == Secret("getToken-u-1"))
    #expect(answer.expiresAt == Timestamp(secondsSince1970: 1_790_000_000))
    #expect(bridge.status(of: key) == Instance.Bridge(state: .closed, lastExit: "0"))
  }

  @Test func errorsNeverShowWhatTheProviderWrote() async throws {
    let bridge = ProviderBridge(logger: log.logger)
    for (script, reason) in [
      ("echo hush hush; echo hush >&2", Reason.providerOutputInvalid), ("echo hush; exit 1", .providerFailed),
      ("echo '{\"hush\": \"hush\"}'", .providerOutputInvalid), ("echo hush; exit 77", .providerDenied),
    ] {
      let error = await #expect(throws: SDKError.self) { try await ask(bridge, directory.shell(script)) }
      #expect(error?.reason == reason)
      #expect(!"\(String(describing: error))".contains("hush"))
      bridge.reset(key)
    }
  }

  @Test func failureWithWordsOfItsOwn() async throws {
    let bridge = ProviderBridge(logger: log.logger)
    let script = try directory.shell(
      #"echo '{"version": 1, "success": false, "code": "E42", "message": "Ask the desk."}'; exit 3"#)
    let error = await #expect(throws: SDKError.self) { try await ask(bridge, script) }
    #expect((error?.vendorCode, error?.vendorDescription) == ("E42", "Ask the desk."))
    #expect(bridge.status(of: key).lastExit == "3")
  }

  @Test func allowedDirectoriesAreTheBridges() async throws {
    let bridge = ProviderBridge(options: BridgeOptions(allow: ["/usr/libexec"]), logger: log.logger)
    let error = await #expect(throws: SDKError.self) { try await ask(bridge, directory.shell("echo token")) }
    #expect(error?.reason == .providerNotAllowed)
    #expect(bridge.status(of: key).lastExit == "notAllowed")
  }

  @Test func daemonThatAProviderLeavesIsSweptAway() async throws {
    let bridge = ProviderBridge(logger: log.logger)
    let script = try directory.shell("setsid sleep 600 & echo $! > pid; echo token")
    #expect(try await ask(bridge, script).token == Secret("token"))
    let pid = try #require(directory.words(of: "pid").first)
    // The sweep spares the process while runs of other tests that began earlier are in progress, so retry.
    #expect(
      await eventually(within: .seconds(60)) {
        await SubreaperSweep().sweep()
        return !isAlive(pid)
      })
  }
}
