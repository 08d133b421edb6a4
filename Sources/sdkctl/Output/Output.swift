import Glibc
import Linux
import SDKProtocol

/// An error for output whose reader has closed the pipe.
struct BrokenPipe: Error {}

/// Standard output or standard error, unbuffered, so that a reader gets each line at once.
struct Output {
  /// Whether it is a terminal.
  let isTerminal: Bool
  /// Whether colours are wanted.
  let hasColour: Bool
  /// The maximum number of characters in a line; `nil` for no limit, as in a file or pipe.
  let width: Int?
  private let write: ([UInt8]) throws -> Void

  /// Creates an output that passes its bytes to `write`.
  init(
    isTerminal: Bool = false, hasColour: Bool = false, width: Int? = nil, write: @escaping ([UInt8]) throws -> Void
  ) {
    self.isTerminal = isTerminal
    self.hasColour = hasColour
    self.width = width
    self.write = write
  }

  static var standardOutput: Output { Output(descriptor: STDOUT_FILENO) }
  static var standardError: Output { Output(descriptor: STDERR_FILENO) }

  private init(descriptor: CInt) {
    let isTerminal = isatty(descriptor) == 1
    func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
    self.init(
      isTerminal: isTerminal,
      hasColour: isTerminal && variable("NO_COLOR").isEmpty && variable("TERM") != "dumb",
      width: isTerminal ? Int(variable("COLUMNS")).flatMap { $0 > 0 ? $0 : nil } ?? Self.columns(descriptor) : nil
    ) { try Self.write($0, to: descriptor) }
  }

  private static func columns(_ descriptor: CInt) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Writes text that this program generated, which may hold newlines and colours.
  func text(_ text: String) throws { try write(Array(text.utf8)) }

  /// Writes one line; characters that a terminal would interpret are escaped.
  func line(_ text: String) throws { try write(Array((SafeText.escaped(text) + "\n").utf8)) }

  /// Writes one line. On a terminal it is wrapped between words, and all but the first part are indented.
  func wrapped(line text: String) throws {
    let (safe, indent) = (SafeText.escaped(text), "    ")
    guard let width, safe.count > width else { return try line(text) }
    try self.text(Self.wrapped(safe, to: width - indent.count).joined(separator: "\n" + indent) + "\n")
  }

  /// Returns a text wrapped between words. A word that is longer than `width` has a line of its own.
  static func wrapped(_ text: String, to width: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      if let line = lines.last, line.count + 1 + word.count <= width {
        lines[lines.count - 1] = line + " " + word
      } else if !word.isEmpty {
        lines.append(String(word))
      }
    }
    // Two spaces separate columns: the second may stand at the end of a line.
    return lines.map { $0.last == " " ? String($0.dropLast()) : $0 }
  }

  /// Returns a time as lines for people show it: by the machine's time zone on a terminal, elsewhere unchanged.
  func text(of time: Timestamp) -> String { isTerminal ? LocalTime.text(time) : time.description }

  /// Writes one line unchanged; on a terminal it is escaped.
  func raw(line text: String) throws { isTerminal ? try line(text) : try self.text(text + "\n") }

  private static func write(_ bytes: [UInt8], to descriptor: CInt) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&waiting, 1, -1)
      } else if errno == EPIPE {
        throw BrokenPipe()
      } else if errno != EINTR {
        throw CommandFailure(
          message: "The output can't be written: \(SystemCallError.text(of: errno)).", reason: "output", status: 1)
      }
    }
  }
}
