import Glibc

/// A line typed at the terminal without echo.
enum HiddenLine {
  /// Prompts on standard error and reads to the end of the line.
  ///
  /// - Throws: `CommandFailure`, also for Ctrl-C.
  static func read(prompt: String) throws -> [UInt8] {
    var before = termios()
    guard tcgetattr(STDIN_FILENO, &before) == 0 else { throw CommandFailure.input("can't ask: no terminal.") }
    var quiet = before
    // No line mode either: the terminal's own lines end after 4095 bytes, and a JWT can be longer. Ctrl-C comes as a
    // byte, so that the terminal is restored in any case.
    quiet.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet)
    defer {
      tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
      try? Output.standardError.text("\n")
    }
    try? Output.standardError.text(SafeText.escaped(prompt))
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while Glibc.read(STDIN_FILENO, &byte, 1) == 1 {
      guard take(byte, into: &line) else { return line }
      if byte == 0x03 { throw CommandFailure(message: "Interrupted.", reason: "cancelled", status: 1) }
      guard line.count <= Input.limit else { throw CommandFailure.input("the line is too long.") }
    }
    return line
  }

  /// Handles one key. Returns `false` at the end of the line.
  static func take(_ byte: UInt8, into line: inout [UInt8]) -> Bool {
    switch byte {
    case 0x0A, 0x0D, 0x04: return false
    case 0x08, 0x7F:
      // Remove all bytes of a multi-byte character.
      while let last = line.popLast(), last & 0xC0 == 0x80 {}
    case 0x15: line = []
    case 0x03: break
    default: line.append(byte)
    }
    return true
  }
}
