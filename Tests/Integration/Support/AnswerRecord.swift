import Foundation
import Glibc
import JSONRPC

/// Results and notifications of the daemon, appended as lines to the file that `SDKD_TEST_ANSWERS` names, for
/// `Counterparts/Programs/answers` to check against the contract.
enum AnswerRecord {
  /// The maximum number of recorded values of one method.
  private static let maximum = 200

  private static let file: Int32? = ProcessInfo.processInfo.environment["SDKD_TEST_ANSWERS"].map {
    open($0, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
  }
  private static let lock = NSLock()
  nonisolated(unsafe) private static var counts: [String: Int] = [:]

  /// Adds the result of a method, or the params of a notification or a request to a delegate.
  static func add(_ name: String, _ value: JSON) {
    guard let file else { return }
    let isWanted = lock.withLock {
      counts[name, default: 0] += 1
      return counts[name, default: 0] <= maximum
    }
    guard isWanted else { return }
    let bytes = JSONWriter.bytes(of: [.string(name), value]) + [10]
    _ = write(file, bytes, bytes.count)
  }
}
