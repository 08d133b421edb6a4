import Glibc
import Logging
import SDKProtocol
import Synchronization

/// A check that the file of the control socket is still there and was not replaced. Without it the daemon keeps its
/// connections, but clients can't connect.
final class ControlSocketFile: Sendable {
  private struct Identity: Hashable {
    let device: dev_t
    let inode: ino_t
  }

  private struct State {
    var isGone = false
    /// Whether its removal is expected.
    var isEnding = false
  }

  private let path: String
  private let remedy: String
  private let logger: Logger
  private let identity: Identity
  private let state = Mutex(State())

  /// Records the current file; `nil` where it can't be seen, such as in a `/tmp` outside of the unit's own.
  ///
  /// - Parameter remedy: the action that restores the file, as an imperative.
  init?(_ path: String, remedy: String, logger: Logger) {
    guard let identity = Self.identity(of: path) else { return nil }
    self.path = path
    self.remedy = remedy
    self.logger = logger
    self.identity = identity
  }

  /// Checks whether the file is still the same, and logs once when it is not.
  func look() {
    let isGone = Self.identity(of: path) != identity
    let isNews = state.withLock { state in
      guard !state.isEnding else { return false }
      defer { state.isGone = isGone }
      return isGone && !state.isGone
    }
    if isNews { logger.error("\(words)") }
  }

  /// Ends the checks: the daemon removes its own socket when it stops.
  func end() { state.withLock { $0.isEnding = true } }

  /// The check for `daemon.health`; empty while the file is there.
  var checks: [DaemonHealth.Check] {
    state.withLock(\.isGone) ? [.init(name: "socket", status: .degraded, detail: words)] : []
  }

  private var words: String {
    "The file of the control socket, \(path), was removed or replaced: new clients can't connect. \(remedy)"
  }

  private static func identity(of path: String) -> Identity? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    return Identity(device: status.st_dev, inode: status.st_ino)
  }
}
