import Foundation
import Glibc
import JSONRPC

/// Answers and notifications of the daemon, appended as lines to the file that `SDKD_TEST_ANSWERS` names, for
/// `Counterparts/Programs/answers` to check against the contract.
enum AnswerRecord {
  /// The maximum number of recorded values of one method, of one event type, or of one reason of a method's errors.
  private static let maximum = 200

  private static let file: Int32? = ProcessInfo.processInfo.environment["SDKD_TEST_ANSWERS"].map {
    open($0, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
  }
  private static let lock = NSLock()
  nonisolated(unsafe) private static var counts: [String: Int] = [:]

  /// Adds the result of a method, or the params of a notification or a request to a delegate.
  static func add(_ name: String, _ value: JSON) {
    let events = [value["event"]].compactMap { $0 } + (value["events"]?.arrayValue ?? [])
    let types = Set(events.compactMap { $0["type"]?.stringValue })
    add([.string(name), value], countedAs: types.isEmpty ? [name] : types.map { "\(name) \($0)" })
  }

  /// Adds the error of a method.
  static func add(_ name: String, error: JSON) {
    add(
      [.string(name), error, "error"],
      countedAs: ["\(name) \(error["code"]?.intValue ?? 0) \(error["data"]?["reason"]?.stringValue ?? "")"])
  }

  private static func add(_ line: JSON, countedAs keys: [String]) {
    guard let file else { return }
    let isWanted = lock.withLock {
      for key in keys { counts[key, default: 0] += 1 }
      return keys.contains { counts[$0, default: 0] <= maximum }
    }
    guard isWanted else { return }
    let bytes = JSONWriter.bytes(of: line) + [10]
    _ = write(file, bytes, bytes.count)
  }
}
