import Glibc

/// The reason why a file could not be read. The description fits after "The file".
public enum FileProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// The system refuses it with this error number.
  case system(Int32)
  /// It is a directory, a pipe or a device.
  case notAFile
  /// It has more than this number of bytes.
  case tooLarge(Int)
  /// Others than its owner and the daemon can read it.
  case readableByOthers
  /// It has no contents.
  case empty
  /// It is not text.
  case notText

  public var description: String {
    switch self {
    case .system(ENOENT): "does not exist"
    case .system(let error): "can't be read: \(Self.words(error))"
    case .notAFile: "is no plain file"
    case .tooLarge(let limit): "is larger than \(limit >> 10) KiB"
    case .readableByOthers: "can be read by others; chmod 600 it"
    case .empty: "is empty"
    case .notText: "is not valid UTF-8 without NUL characters"
    }
  }

  /// Returns the system's text for an error number.
  public static func words(_ error: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard strerror_r(error, &buffer, buffer.count) == 0 else { return "error \(error)" }
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
