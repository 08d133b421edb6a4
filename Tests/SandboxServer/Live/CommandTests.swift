import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// The `sdk-sandbox` executable, if it was built next to the tests.
@Suite(.timeLimit(.minutes(2))) struct CommandTests {
  static let executable: URL? = {
    let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let beside = own.deletingLastPathComponent().appending(path: "sdk-sandbox")
    return FileManager.default.isExecutableFile(atPath: beside.path) ? beside : nil
  }()

  /// Starts the executable with its output on a pipe.
  static func start(_ arguments: String...) throws -> (process: Process, output: FileHandle) {
    try start(arguments)
  }

  static func start(_ arguments: [String]) throws -> (process: Process, output: FileHandle) {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = executable
    process.arguments = arguments
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    return (process, pipe.fileHandleForReading)
  }

  /// Runs blocking work on a thread of its own, so that it blocks no thread of Swift's task pool.
  static func blocking<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: work()) }
    }
  }

  @Test(.enabled(if: executable != nil, "sdk-sandbox is not built"), arguments: [SIGTERM, SIGINT])
  func `It says where it listens, serves, and ends on a signal`(signal: Int32) async throws {
    let (process, output) = try Self.start("--port", "0")
    let line = await Self.blocking { String(decoding: output.availableData, as: UTF8.self) }
    let prefix = "sdk-sandbox: development only, listening on http://127.0.0.1:"
    #expect(line.hasPrefix(prefix) && line.hasSuffix("\n"))
    let port = try #require(UInt16(line.dropFirst(prefix.count).dropLast()))
    let sandbox = LiveSandbox(port: port, server: try SandboxServer())
    _ = try await sandbox.send("POST", "/_control", ["route": "/**", "hang": true])
    let hanging = try RawClient(port: port)
    try await hanging.send(LiveSandbox.bytes("GET", "/zm"))
    #expect(try await sandbox.send("GET", "/_log?count=1&waitMs=30000").status == 200)
    kill(process.processIdentifier, signal)
    await Self.blocking { process.waitUntilExit() }
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 0)
  }

  @Test(.enabled(if: executable != nil, "sdk-sandbox is not built"))
  func `It mints tokens that the sandbox accepts`() async throws {
    let (process, output) = try Self.start("mint", "--external-id", "alice", "--kid", "app_second", "--ttl", "60")
    let text = await Self.blocking { String(decoding: output.readDataToEndOfFile(), as: UTF8.self) }
    await Self.blocking { process.waitUntilExit() }
    #expect(process.terminationStatus == 0)
    let token = text.trimmingCharacters(in: .newlines)
    #expect(text == "\(token)\n")
    var backend = MessagingBackend()
    #expect(try backend.verify(token, now: .now).externalID == "alice")
    #expect(throws: MessagingRefusal.self) { try backend.verify(token, now: .now.addingTimeInterval(61)) }
  }

  static let chatOptions: [(options: [String], refusal: ChatRefusal?)] = [
    ([], nil), (["--name", "A", "--email", "a@b.test", "--ttl", "420"], nil), (["--no-exp"], nil),
    (["--ttl", "421"], .claims("exp is too far in the future")), (["--name", ""], .nameShouldBeSet),
    (["--email", ""], .emailIsInvalid), (["--ttl=-1"], .hasExpired),
  ]

  @Test(.enabled(if: executable != nil, "sdk-sandbox is not built"), arguments: chatOptions)
  func `It mints tokens for chat`(options: [String], refusal: ChatRefusal?) async throws {
    let (process, output) = try Self.start(["mint", "--sdk", "chat", "--external-id", "alice"] + options)
    let text = await Self.blocking { String(decoding: output.readDataToEndOfFile(), as: UTF8.self) }
    await Self.blocking { process.waitUntilExit() }
    let token = text.trimmingCharacters(in: .newlines)
    let check = {
      try ChatClaims(token, secret: DemoAccounts.chatSecret, externalIDMax: 200, now: .now).externalID
    }
    if let refusal {
      #expect(throws: refusal) { try check() }
    } else {
      #expect(try check() == "alice")
    }
  }

  @Test(.enabled(if: executable != nil, "sdk-sandbox is not built"))
  func `Help names the demo accounts`() async throws {
    let (process, output) = try Self.start("--help")
    let text = await Self.blocking { String(decoding: output.readDataToEndOfFile(), as: UTF8.self) }
    await Self.blocking { process.waitUntilExit() }
    for secret in DemoAccounts.keys.values { #expect(text.contains(secret)) }
    let accounts = [
      DemoAccounts.appID, DemoAccounts.integrationID, DemoAccounts.supportAppID, DemoAccounts.supportClientID,
      DemoAccounts.supportAnonymousAppID, DemoAccounts.supportAnonymousClientID, DemoAccounts.supportSecret,
      DemoAccounts.salesforceClientID, DemoAccounts.salesforceRotatingClientID,
      DemoAccounts.salesforceConfidentialClientID, DemoAccounts.salesforceClientSecret, DemoAccounts.chatAccountKey,
      DemoAccounts.chatSecret, DemoAccounts.chatAccountKeyWithoutSecret,
      DemoAccounts.providerUID,
    ]
    let controls = ["_control", "_log", "_clock", "_keys", "_revoke", "_options", "_state", "_sockets", "_push"]
    let own = BackendList.all.flatMap { $0.controls + $0.optionNames }
    for word in accounts + controls + own + ["_close", "mint"] { #expect(text.contains(word), "\(word)") }
  }
}
