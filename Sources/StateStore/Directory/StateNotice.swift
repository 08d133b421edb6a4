import FoundationEssentials
import Glibc
import Linux
import SDKProtocol

/// A notice that the state differs from what the daemon last wrote, for example because the database was rolled back or
/// rows are missing. Its file beside the database stays until an operator deletes it.
public struct StateNotice: Sendable, Hashable {
  private static let prefix = "state.db.notice-"
  private static let limit = 4096

  /// The name of the notice's file.
  public var file: String
  /// The text: what was found, and what the operator should do.
  public var text: String

  /// Writes the findings into a notice file and returns the notice.
  static func leave(
    _ findings: [String], in directory: StateDirectory, at time: Timestamp
  ) throws(StoreOpenError) -> StateNotice {
    let name = prefix + time.fileName
    let text = (findings + ["Then delete \(directory.path)/\(name)."]).joined(separator: " ")
    let path = directory.path + "/" + name
    unlink(path)
    let file = try OwnedDescriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    try file.write(Array((text + "\n").utf8), path: path)
    try directory.synchronize()
    return StateNotice(file: name, text: text)
  }

  /// Returns the notices whose files are still in the directory, oldest first.
  static func all(in directory: String) -> [StateNotice] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.filter { $0.hasPrefix(prefix) }.sorted().compactMap { name in
      let bytes = (try? OwnedDescriptor(readingFile: directory + "/" + name))?.read(limit) ?? []
      let text = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      return StateNotice(file: name, text: text.isEmpty ? "Look at \(name), then delete it." : text)
    }
  }
}
