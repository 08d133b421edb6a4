/// Durations of restarts or of calls, in milliseconds.
struct Durations: Sendable, CustomStringConvertible {
  /// The largest accepted ratio of the longest wait of a caller to the median restart of the same run.
  ///
  /// The goal is 1.5. The rest is for a machine that is busy with other tests, so that only a fault exceeds it, such as a
  /// wait for a timeout.
  static let longestWait = 4.0

  private var sorted: [Int]

  init(_ milliseconds: [Int] = []) { sorted = milliseconds.sorted() }

  mutating func add(_ other: Durations) { sorted = (sorted + other.sorted).sorted() }

  /// The median; zero without durations.
  var median: Int { sorted.isEmpty ? 0 : sorted[sorted.count / 2] }

  /// The longest; zero without durations.
  var longest: Int { sorted.last ?? 0 }

  /// Returns the ratio of a time, in milliseconds, to the median, rounded to hundredths.
  func ratio(of milliseconds: Int) -> Double {
    (100 * Double(milliseconds) / Double(max(median, 1))).rounded() / 100
  }

  var description: String { "median \(median) ms, longest \(longest) ms" }
}

/// Restarts of a daemon.
extension Machine {
  /// Restarts a daemon again and again, with a change of `desk` before each and after the last.
  ///
  /// - Parameters:
  ///   - sdkctl: the command, with the options that select the daemon; `true` changes nothing.
  ///   - command: the commands that restart it.
  func restart(
    _ times: Int, sdkctl: String = "sdkctl", by command: String = "systemctl restart sdkd.service"
  ) async throws -> Durations {
    let output = try await sh(
      """
      for i in $(seq \(times)); do
        \(sdkctl) update desk --label n=$i > /dev/null
        begin=${EPOCHREALTIME/./}; \(command); echo $(((${EPOCHREALTIME/./} - begin) / 1000))
      done
      \(sdkctl) update desk --label n=end > /dev/null
      """, within: 300
    ).output
    return Durations(output.split(separator: "\n").compactMap { Int($0) })
  }
}
