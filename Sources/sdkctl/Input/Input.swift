import Glibc
import JSONRPC
import Linux

/// The input of a command: standard input, files, the keyboard.
struct Input {
  /// The maximum size of an input in bytes. No setting, identity or JWT is larger.
  static let limit = 1 << 20

  private let isTerminal: Bool
  private let readDescriptor: (CInt) throws -> [UInt8]

  /// Creates an input that reads standard input and files with `read`.
  init(isTerminal: Bool, read: @escaping (CInt) throws -> [UInt8]) {
    self.isTerminal = isTerminal
    readDescriptor = read
  }

  static var standard: Input { Input(isTerminal: isatty(STDIN_FILENO) == 1) { try Self.bytes(of: $0) } }

  /// Returns all bytes of a file; `-` and `nil` are standard input.
  func bytes(from path: String?) throws -> [UInt8] {
    guard let path, path != "-" else { return try readDescriptor(STDIN_FILENO) }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CommandFailure.input("\(path) \(FileProblem.system(errno)).") }
    defer { close(descriptor) }
    return try readDescriptor(descriptor)
  }

  /// Returns a secret from a file, from standard input, or typed without echo.
  func secret(from path: String?, prompt: String) throws -> [UInt8] {
    guard isTerminal, path == nil || path == "-" else { return try bytes(from: path) }
    return try HiddenLine.read(prompt: prompt)
  }

  /// Asks for confirmation on the terminal and returns whether the user agrees. Without a terminal it returns `true`
  /// without asking.
  func confirms(_ question: String) -> Bool {
    guard isTerminal else { return true }
    try? Output.standardError.text("\(question) [y/N] ")
    return ["y", "yes"].contains(readLine()?.lowercased())
  }

  /// Returns the JSON value in a file or standard input.
  func json(from path: String?) throws -> JSON { try Self.json(try bytes(from: path), path ?? "-") }

  /// Returns the JSON object in a file or standard input.
  func object(from path: String?) throws -> JSONObject {
    guard let object = try json(from: path).objectValue else {
      throw CommandFailure.input("\(Self.name(path ?? "-")) must hold a JSON object.")
    }
    return object
  }

  /// Parses bytes as JSON. The error never shows them, since they can be a secret.
  static func json(_ bytes: [UInt8], _ path: String = "-") throws -> JSON {
    do { return try JSONParser.parse(bytes) } catch {
      throw CommandFailure.input("\(name(path)) \(error.predicate).")
    }
  }

  /// Returns bytes as text in UTF-8.
  ///
  /// - Throws: `CommandFailure` for UTF-16, which Windows shells write.
  static func text(_ bytes: [UInt8], _ path: String = "-") throws -> String {
    guard !ByteOrderMark.isUTF16(bytes) else {
      throw CommandFailure.input("\(name(path)) \(ByteOrderMark.utf16Predicate).")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func name(_ path: String) -> String { path == "-" ? "standard input" : path }

  private static func bytes(of descriptor: CInt) throws -> [UInt8] {
    do throws(FileProblem) {
      return try BoundedFile.contents(of: descriptor, limit: limit)
    } catch {
      throw CommandFailure.input("The input \(error).")
    }
  }
}
