import Glibc
import Synchronization

/// The progress of a long operation: one line on the terminal, which is removed at the end. Without a terminal nothing
/// is shown.
final class Progress: Sendable {
  private static let clear = "\r\u{1B}[K"
  private static let signs = Array("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

  private let isShown: Bool
  private let isOver = Atomic(false)

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
    let ticker = Ticker(text: SafeText.escaped(text), progress: self)
    defer { ticker.stop() }
    return try await body()
  }

  /// A thread that updates the line, since a call blocks the calling one.
  private final class Ticker: Sendable {
    private let thread = Mutex<pthread_t?>(nil)
    private let progress: Progress

    init(text: String, progress: Progress) {
      self.progress = progress
      let work = Unmanaged.passRetained(Work(text: text, progress: progress))
      var id = pthread_t()
      let status = pthread_create(
        &id, nil,
        { pointer in
          guard let pointer else { return nil }
          Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().run()
          return nil
        }, work.toOpaque())
      if status == 0 { thread.withLock { $0 = id } } else { work.release() }
    }

    func stop() {
      progress.isOver.store(true, ordering: .releasing)
      if let id = thread.withLock({ $0 }) { pthread_join(id, nil) }
    }
  }

  private final class Work: Sendable {
    private let text: String
    private let progress: Progress

    init(text: String, progress: Progress) {
      self.text = text
      self.progress = progress
    }

    func run() {
      let start = ContinuousClock.now
      var tick = 0
      while !progress.isOver.load(ordering: .acquiring) {
        usleep(100_000)
        tick += 1
        let seconds = Int(start.duration(to: .now) / .seconds(1))
        guard seconds >= 1 else { continue }
        Progress.write("\(Progress.clear)\(Progress.signs[tick % Progress.signs.count]) \(text) \(seconds) s")
      }
      Progress.write(Progress.clear)
    }
  }

  private static func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
