import Glibc
import Linux
import Synchronization
import Systemd

/// A probe of the disk with the state: writes and syncs a small file.
///
/// Each probe runs on a thread of its own, and one at a time, so that a disk that hangs blocks no other work.
final class DiskCheck: Sendable {
  /// The state of the probe since the last `reset`.
  private enum Standing {
    case unasked
    case asked
    case answered
  }

  private let path: String
  private let standing = Mutex(Standing.unasked)

  init(state directory: String) { path = "\(directory)/disk-check" }

  /// Starts a probe, unless one was started since `reset`.
  ///
  /// - Returns: whether the disk has responded since `reset`.
  func hasAnswered() -> Bool {
    let asks = standing.withLock { standing in
      guard standing == .unasked else { return false }
      standing = .asked
      return true
    }
    if asks {
      do {
        try SystemThread.start(name: "sdkd-disk") {
          self.write()
          self.standing.withLock { if $0 == .asked { $0 = .answered } }
        }
      } catch {
        // No thread could be created; the next call tries again.
        standing.withLock { $0 = .unasked }
      }
    }
    return standing.withLock { $0 == .answered }
  }

  /// Discards the disk's response once the store's writer has responded. It says nothing about the disk at the writer's
  /// next stall.
  func reset() { standing.withLock { if $0 == .answered { $0 = .unasked } } }

  /// Writes and syncs the file. An error counts as a response too: only a delay matters.
  private func write() {
    #if DEBUG
      DebugWedge.waitForSlowDisk()
    #endif
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return }
    var byte: UInt8 = 0
    _ = Glibc.write(file, &byte, 1)
    _ = fsync(file)
    close(file)
    unlink(path)
  }
}
