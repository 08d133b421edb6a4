import Glibc
import SDKProtocol

/// A secret in a file: a plain one, and small.
enum SecretFile {
  /// More than any secret of a connected app has.
  private static let limit = 4096

  /// The secret in a file, without the line end that editors leave.
  ///
  /// - Throws: `invalidAuthParameters` for a file that can't be read or holds none.
  static func read(_ path: String, setting: String) throws(SDKError) -> Secret {
    func refused(_ why: String) -> SDKError {
      SDKError(.local, .invalidAuthParameters, "The file of \(setting) \(why)", member: setting)
    }
    // Without O_NONBLOCK a pipe in the file's place would stop the daemon.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw refused("can't be opened: \(String(cString: strerror(errno))).") }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw refused("is not a plain file.")
    }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var count = 0
    while count < bytes.count {
      let more = bytes.withUnsafeMutableBytes {
        Glibc.read(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
      }
      if more < 0, errno == EINTR { continue }
      guard more >= 0 else { throw refused("can't be read: \(String(cString: strerror(errno))).") }
      if more == 0 { break }
      count += more
    }
    guard count <= limit else { throw refused("has more than \(limit) bytes.") }
    let text = bytes[..<count]
    let end = text.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { $0 + 1 } ?? 0
    let secret = Secret(String(decoding: text[..<end], as: UTF8.self))
    guard SalesforceText.isToken(secret) else { throw refused("holds no secret: printable, on one line.") }
    return secret
  }
}
