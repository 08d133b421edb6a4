public import Glibc

/// A file that is replaced as a whole: a reader gets the former contents or the new ones, never a part.
///
/// The new contents are first written to a file beside it, whose name ends with `.new`. A symbolic link at the path is
/// replaced, not followed.
public struct AtomicFile: Sendable, Hashable {
  /// The path of the file.
  public let path: String

  /// Creates a description of the file at `path`, which need not exist.
  public init(_ path: String) { self.path = path }

  private var fresh: String { path + ".new" }

  /// Replaces the file, and returns when the new contents are on disk.
  ///
  /// - Parameter mode: the permission bits of the new file.
  public func write(_ bytes: [UInt8], mode: mode_t = 0o600) throws(SystemCallError) {
    // The name may be taken: by a process that was killed, or by another user, who would own what is written there.
    unlink(fresh)
    let descriptor = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { throw SystemCallError("create \(fresh)", errno) }
    do throws(SystemCallError) {
      defer { close(descriptor) }
      guard fchmod(descriptor, mode) == 0 else { throw SystemCallError("chmod \(fresh)", errno) }
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count > 0 {
          rest = rest.dropFirst(count)
        } else if errno != EINTR {
          throw SystemCallError("write \(fresh)", errno)
        }
      }
      guard fsync(descriptor) == 0 else { throw SystemCallError("write \(fresh)", errno) }
      guard rename(fresh, path) == 0 else { throw SystemCallError("replace \(path)", errno) }
    } catch {
      unlink(fresh)
      throw error
    }
  }

  /// Removes the file, and what an interrupted `write` has left. Does nothing if there is neither.
  public func remove() throws(SystemCallError) {
    for name in [fresh, path] where unlink(name) != 0 && errno != ENOENT {
      throw SystemCallError("remove \(name)", errno)
    }
  }
}
