import Glibc

/// A program could not be started.
struct SpawnFailure: Error {
  /// The error number.
  let code: Int32

  /// The exit status that shells give then.
  var status: Int32 { code == ENOENT || code == ENOTDIR ? 127 : 126 }
}
