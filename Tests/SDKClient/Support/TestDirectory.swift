import Glibc

/// A temporary directory, which is deleted when this object is deinitialized.
final class TestDirectory: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/sdkd-client-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw NotInTime(description: "mkdtemp: \(errno)") }
    path = String(cString: made)
  }

  deinit {
    unlink(socket)
    rmdir(path)
  }

  /// The path of a socket for a daemon.
  var socket: String { "\(path)/s" }
}
