import Foundation
import Glibc
import JSONRPC
import SDKClient
import SDKProtocol
import Synchronization

/// The real daemon with the real sandbox, both started for one test.
final class LiveDaemon: Sendable {
  let socket: String
  private let folder: TestFolder
  private let sandbox: LiveProgram
  private let daemon = Mutex<LiveProgram?>(nil)
  private let starts = Mutex(0)

  /// Starts the sandbox and the daemon, and waits until both are ready.
  static func start() async throws -> LiveDaemon {
    let live = try LiveDaemon()
    try await waitUntil("the sandbox listens") { live.sandbox.text.contains("\n") }
    try await live.start()
    return live
  }

  private init() throws {
    folder = try TestFolder()
    socket = "\(folder.path)/s"
    sandbox = try LiveProgram("sdk-sandbox", ["--port", "0"], log: "\(folder.path)/sandbox.log")
  }

  func start() async throws {
    let number = starts.withLock { starts in
      starts += 1
      return starts
    }
    let daemon = try LiveProgram(
      "sdkd", ["--config", "\(folder.path)/sdkd.toml", "--state", "\(folder.path)/state", "--socket", socket],
      log: "\(folder.path)/sdkd\(number).log")
    self.daemon.withLock { $0 = daemon }
    try await waitUntil("the daemon is ready") { daemon.text.contains("sdkd: ready") }
  }

  /// Kills the daemon with SIGKILL.
  func killNow() { daemon.withLock { $0 = nil } }

  /// Sends SIGTERM, and waits until the daemon has ended.
  func terminate() async throws {
    guard let daemon = daemon.withLock({ $0 }) else { return }
    kill(daemon.pid, SIGTERM)
    try await waitUntil("the daemon has ended") {
      // `WNOWAIT` leaves the process for `LiveProgram` to reap.
      var info = siginfo_t()
      return waitid(P_PID, id_t(daemon.pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_signo == SIGCHLD
    }
    killNow()
  }

  /// The URL of the sandbox's Messaging backend.
  var vendor: String {
    let port = sandbox.text.split(separator: "\n").first?.split(separator: ":").last ?? "0"
    return "http://127.0.0.1:\(port)/zm"
  }

  /// Returns a new JWT for a user, made by the sandbox.
  func mint(_ user: String) async throws -> String {
    let log = "\(folder.path)/mint-\(UInt64.random(in: 0 ... .max))"
    let program = try LiveProgram("sdk-sandbox", ["mint", "--external-id", user], log: log)
    try await waitUntil("the JWT is made") { program.text.hasSuffix("\n") }
    return String(program.text.dropLast())
  }

  /// Returns the params that create a Messaging instance.
  func definition(_ id: InstanceID) -> InstanceCreate.Params {
    InstanceCreate.Params(
      instance: id, kind: KindName("zendesk.messaging"),
      settings: [
        "base_url": .string(vendor), "app_id": "5f0000000000000000000001", "realtime": "off",
        "refresh": ["mode": "lazy", "min_interval": 0],
      ])
  }
}

/// A temporary folder, which is deleted with its content when this object is deinitialized.
final class TestFolder: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/sdkd-live-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw NotInTime(description: "mkdtemp: \(errno)") }
    path = String(cString: made)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }
}
