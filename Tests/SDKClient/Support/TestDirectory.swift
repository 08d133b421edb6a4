import Glibc

/// A directory that goes away with the test.
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

  /// Where a daemon can listen.
  var socket: String { "\(path)/s" }
}
