import Glibc
import Linux
import SDKProtocol

/// The file beside the database with the generation of the state that was written last.
///
/// The generation in the database grows when a state is opened and closed and when keys are destroyed; this file
/// follows each time. A database older than this file was replaced by an old copy, or the disk has lost changes. An old
/// copy of the whole directory is consistent and is not detected.
struct GenerationRecord: Sendable {
  /// The ID and the generation of a state at the time of the record.
  struct Entry: Equatable, Sendable {
    var stateID: String
    var generation: UInt64
  }

  private let path: String

  init(in directory: StateDirectory) { path = directory.path + "/generation" }

  /// Reads the file. Returns `nil` when it is missing or can't be parsed.
  func read() -> Entry? {
    guard let bytes = (try? OwnedDescriptor(readingFile: path))?.read(128) else { return nil }
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    let words = String(decoding: line, as: UTF8.self).split(separator: " ")
    guard words.count == 2, let generation = UInt64(words[1]) else { return nil }
    return Entry(stateID: String(words[0]), generation: generation)
  }

  /// Overwrites the file in place with a line of the same length, which works even on a full disk.
  ///
  /// - Parameter isDurable: whether to wait for the disk. If a power failure reverts the file, its number is lower than
  ///   the database's, which is harmless.
  func write(_ entry: Entry, isDurable: Bool = true) throws(StoreOpenError) {
    let file = try OwnedDescriptor(opening: path, O_WRONLY | O_CREAT | O_NONBLOCK, mode: 0o600)
    let number = String(entry.generation)
    let padding = String(repeating: "0", count: max(0, 20 - number.utf8.count))
    try file.write(Array("\(entry.stateID) \(padding)\(number)\n".utf8), path: path, isDurable: isDurable)
  }
}
