import Glibc

/// An error in starting a program.
struct SpawnFailure: Error {
  /// The error number.
  let code: Int32

  /// The exit status that shells use for this error: 127 if the program was not found, else 126.
  var status: Int32 { code == ENOENT || code == ENOTDIR ? 127 : 126 }
}
