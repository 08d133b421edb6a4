import Foundation
import Glibc
import JSONRPC
import Testing

extension Desk {
  /// The number of times that the daemon's process has become ready.
  private var readyCount: Int { (daemon?.logText ?? "").components(separatedBy: "sdkd: ready\n").count - 1 }

  /// Replaces the daemon by SIGUSR2, and returns the seconds until the next one is ready.
  @discardableResult
  func replace() throws -> Double {
    let before = readyCount
    let start = ContinuousClock.now
    daemon?.signal(SIGUSR2)
    try eventually("the next daemon is ready", within: 90) {
      if let status = daemon?.exit(within: 0) {
        throw Program.Failure(description: "the daemon ended with \(status): \(daemon?.logText ?? "")")
      }
      return readyCount > before
    }
    return (ContinuousClock.now - start) / .seconds(1)
  }

  /// Returns what the daemon has said about connections of former ones, newest last.
  var handOverReports: [String] {
    (daemon?.logText ?? "").split(separator: "\n").map(String.init).filter {
      $0.contains("Connections of the former daemon")
    }
  }
}
