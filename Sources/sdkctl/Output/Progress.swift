import Glibc
import Linux
import Synchronization

/// The progress of a long operation: one line on the terminal, which is removed at the end. Without a terminal nothing
/// is shown.
final class Progress: Sendable {
  private static let clear = "\r\u{1B}[K"
  private static let signs = Array("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

  private let isShown: Bool

  /// Creates a progress line that is not shown yet.
  ///
  /// - Parameter errors: standard error, on which the line appears.
  init(_ errors: Output) { isShown = errors.isTerminal }

  /// Shows a text in place of the previous one.
  func show(_ text: String) {
    guard isShown else { return }
    Self.write(Self.clear + SafeText.escaped(text))
  }

  /// Removes the line.
  func end() {
    guard isShown else { return }
    Self.write(Self.clear)
  }

  /// Shows a text and the elapsed seconds while `body` runs, from its first second on.
  func during<Result>(_ text: String, _ body: () async throws -> Result) async rethrows -> Result {
    guard isShown else { return try await body() }
    let ticker = Ticker()
    let text = SafeText.escaped(text)
    // A separate thread, since the body blocks this one.
    try? SystemThread.start(name: "progress", stackSize: 256 << 10) { ticker.run(text) }
    defer { ticker.stop() }
    return try await body()
  }

  /// Updates the line until it is stopped.
  private final class Ticker: Sendable {
    private let isOver = Mutex(false)

    func run(_ text: String) {
      let start = ContinuousClock.now
      for tick in 1... {
        usleep(100_000)
        let seconds = Int(start.duration(to: .now) / .seconds(1))
        let sign = Progress.signs[tick % Progress.signs.count]
        let isOver = isOver.withLock { isOver in
          if !isOver, seconds >= 1 { Progress.write("\(Progress.clear)\(sign) \(text) \(seconds) s") }
          return isOver
        }
        if isOver { return }
      }
    }

    /// Removes the line. It does not appear again.
    func stop() {
      isOver.withLock { isOver in
        isOver = true
        Progress.write(Progress.clear)
      }
    }
  }

  private static func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
