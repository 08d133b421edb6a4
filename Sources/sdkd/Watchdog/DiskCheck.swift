import Glibc
import Synchronization
import Systemd

/// Asks the disk that the state lies on whether it answers, with a small file that is synced.
///
/// On a thread of its own for each question, and one question at a time: a disk that hangs holds up nobody.
final class DiskCheck: Sendable {
  /// When the store's writer fell silent, and what the disk says since.
  private enum Standing {
    case unasked
    case asked
    case answered
  }

  private let path: String
  private let standing = Mutex(Standing.unasked)

  init(state directory: String) { path = "\(directory)/disk-check" }

  /// Asks the disk, unless it was asked already.
  ///
  /// - Returns: whether it has answered since `reset`.
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
        // No room for a thread: asked again the next time.
        standing.withLock { $0 = .unasked }
      }
    }
    return standing.withLock { $0 == .answered }
  }

  /// The writer has answered: what the disk said before tells nothing about its next silence.
  func reset() { standing.withLock { if $0 == .answered { $0 = .unasked } } }

  /// An error is an answer too: what counts is that the disk does not keep one waiting.
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
