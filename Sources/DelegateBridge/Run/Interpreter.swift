import Linux

/// The interpreter that the first line of a script names.
enum Interpreter {
  /// The length of a script's first line that the kernel reads, in bytes.
  private static let length = 256

  /// Returns the interpreter's path as written; `nil` if the file is not a script or can't be read.
  static func path(of program: String) -> String? {
    BoundedFile.beginning(at: program, limit: length).flatMap { path(in: $0[...]) }
  }

  /// Returns the interpreter's path in the first bytes of a script.
  static func path(in bytes: ArraySlice<UInt8>) -> String? {
    guard bytes.starts(with: "#!".utf8) else { return nil }
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    let line = bytes.dropFirst(2).prefix { $0 != 0x0A && $0 != 0 }
    let word = line.drop(while: isBlank).prefix { !isBlank($0) }
    return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
  }
}
