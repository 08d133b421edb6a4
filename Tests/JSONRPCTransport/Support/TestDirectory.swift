import Glibc

/// A directory that is removed in `deinit`.
final class TestDirectory: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/sdkd-transport-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw NotInTime(description: "mkdtemp: \(errno)") }
    path = String(cString: made)
  }

  deinit {
    guard let directory = opendir(path) else { return }
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      unlink("\(path)/\(name)")
    }
    closedir(directory)
    rmdir(path)
  }

  func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }
}
