import Glibc
import Linux

/// The file with the subordinate uids of users (subuid(5)). Ranges that only a name service has are not known.
enum SubordinateFile {
  private static let path = "/etc/subuid"
  /// The largest file that is read, in bytes.
  private static let maximumBytes = 1 << 20

  /// Returns the bytes of the file; none if it does not exist, and `nil` if it can't be read or is too large.
  static func read() -> [UInt8]? {
    do throws(FileProblem) {
      return try BoundedFile(reading: path, limit: maximumBytes).bytes
    } catch {
      return error == .system(ENOENT) ? [] : nil
    }
  }
}
