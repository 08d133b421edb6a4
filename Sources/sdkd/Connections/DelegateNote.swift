import Concurrency
import DelegateBridge
import Glibc
import JSONRPC
import Linux
import SDKInstances

/// A small file beside the state with the instances that have a delegate. It contains no secret and is not synced to
/// disk.
struct DelegateNote: DelegateMemory {
  let path: String
  private let pool = BlockingPool(name: "delegates", maximum: 1)

  /// A bound above the names of as many instances as a daemon can have.
  private static let maximumBytes = 8 << 20

  func load() -> Set<String> {
    guard let file = try? BoundedFile(reading: path, limit: Self.maximumBytes),
      let names = (try? JSONParser.parse(file.bytes))?.arrayValue
    else { return [] }
    return Set(names.compactMap(\.stringValue))
  }

  /// Writes the file. A failure is ignored: after a restart, callers that need a delegate then get `noProvider` at
  /// once.
  func save(_ instances: Set<String>) async {
    // A disk may hang, which must not block the threads of tasks.
    try? await pool.run { write(instances) }
  }

  private func write(_ instances: Set<String>) {
    let fresh = path + ".new"
    let file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return }
    let bytes = JSONWriter.bytes(of: .array(instances.sorted().map(JSON.string)))
    let written = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
    close(file)
    guard written == bytes.count, rename(fresh, path) == 0 else {
      unlink(fresh)
      return
    }
  }
}
