import Glibc
import Synchronization

/// The terminal while `sdkctl top` uses it: alternate screen, no echo, single keys. It is restored at the end, also
/// when a signal ends the program.
final class TopScreen {
  /// The terminal settings that the signal handler restores. Set once, before the handlers are installed.
  private nonisolated(unsafe) static var before: termios?
  private static let leave: [UInt8] = Array("\u{1B}[?25h\u{1B}[?1049l".utf8)

  private let output: Output

  /// Takes over the terminal.
  init(_ output: Output) throws {
    self.output = output
    var settings = termios()
    if isatty(STDIN_FILENO) == 1, tcgetattr(STDIN_FILENO, &settings) == 0 {
      Self.before = settings
      settings.c_lflag &= ~tcflag_t(ECHO | ICANON)
      // Disable Ctrl-Z: a stopped program would leave the alternate screen behind.
      withUnsafeMutableBytes(of: &settings.c_cc) { $0[Int(VSUSP)] = 0 }
      tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number) { number in
        TopScreen.restore()
        _exit(number == SIGINT ? 0 : 128 + number)
      }
    }
    try output.text("\u{1B}[?1049h\u{1B}[?25l")
  }

  deinit { Self.restore() }

  /// The reason why a wait ended.
  enum Event {
    /// The time of the next frame.
    case time
    /// The user wants to leave.
    case quit
    /// The user pressed another key.
    case key(UInt8)
  }

  /// The columns and rows of the terminal.
  var size: (columns: Int, rows: Int) {
    var size = winsize()
    let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
    return isKnown ? (Int(size.ws_col), Int(size.ws_row)) : (80, 24)
  }

  /// Shows a text in place of the previous one.
  func show(_ text: String) throws {
    let size = size
    try output.text(ScreenText.fitted(text, columns: size.columns, rows: size.rows))
  }

  /// Waits until the time of the next frame, or for a key.
  func wait(until end: ContinuousClock.Instant) -> Event {
    let hasKeys = Self.before != nil
    while true {
      let left = Int32(clamping: Int64((end - .now) / .milliseconds(1)))
      if left <= 0 { return .time }
      var keyboard = pollfd(fd: hasKeys ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0)
      guard poll(&keyboard, 1, left) > 0 else { continue }
      var key: UInt8 = 0
      guard read(STDIN_FILENO, &key, 1) == 1 else { return .quit }
      return key == UInt8(ascii: "q") || key == UInt8(ascii: "Q") ? .quit : .key(key)
    }
  }

  /// Restores the terminal. Makes only calls that are safe in a signal handler.
  private static func restore() {
    _ = leave.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    if var before { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
  }
}
