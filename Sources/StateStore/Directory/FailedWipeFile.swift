import Glibc
import Linux
import SDKProtocol
import Synchronization

/// The file that notes the services whose wipe could not be stored, so that they are locked after a restart.
///
/// Notes are overwritten in place and the file keeps its size, so that a note can also be written on a full disk.
final class FailedWipeFile: Sendable {
  private struct Note: Hashable {
    let uuid: InstanceUUID
    let service: String
  }

  private struct Notes {
    var slots: [Note?] = []
    var file: OwnedDescriptor?
  }

  /// The length of a note in bytes. A sector contains whole notes, so that none is half written.
  private static let noteBytes = 64
  private static let smallestCount = 1024

  private let path: String
  private let state: Mutex<Notes>

  /// Opens the file.
  ///
  /// - Parameter instances: the number of instances in the state. There is room for more notes.
  init(in directory: StateDirectory, instances: Int) {
    path = directory.path + "/failed-wipes"
    var found = Notes()
    if let file = try? OwnedDescriptor(opening: path, O_RDWR | O_CREAT | O_NONBLOCK, mode: 0o600) {
      let size = (try? file.size(path: path)) ?? 0
      let bytes = Self.noteBytes * max(Self.smallestCount, 2 * instances)
      if size < bytes { Self.fill(file, from: size, to: bytes, path) }
      let count = ((try? file.size(path: path)) ?? 0) / Self.noteBytes
      found.file = file
      found.slots = (0..<count).map { slot in
        file.read(Self.noteBytes, at: slot * Self.noteBytes).flatMap(Self.note)
      }
    }
    state = Mutex(found)
  }

  private static func fill(_ file: OwnedDescriptor, from size: Int, to bytes: Int, _ path: String) {
    // A file with holes would need free space later.
    guard lseek(file.raw, 0, SEEK_END) >= 0 else { return }
    try? file.write([UInt8](repeating: UInt8(ascii: "\n"), count: bytes - size), path: path)
  }

  private static func note(_ bytes: [UInt8]) -> Note? {
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    let words = String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, words[0].utf8.count == 36 else { return nil }
    return Note(uuid: InstanceUUID(String(words[0])), service: String(words[1]))
  }

  /// The noted services by instance; the name is empty for an instance without services.
  var noted: [InstanceUUID: [String]] {
    state.withLock { state in
      Dictionary(grouping: state.slots.compactMap { $0 }, by: \.uuid).mapValues { $0.map(\.service).sorted() }
    }
  }

  /// Replaces the notes of an instance, and returns once that is on disk.
  ///
  /// - Throws: `unwritable` when the disk fails, or there is no room for another note.
  func set(_ services: [String], of uuid: InstanceUUID) throws(StoreOpenError) {
    let notes = Set(services.map { Note(uuid: uuid, service: $0) })
    let result = state.withLock { state in
      Result { () throws(StoreOpenError) in try set(notes, of: uuid, &state) }
    }
    try result.get()
  }

  private func set(_ notes: Set<Note>, of uuid: InstanceUUID, _ state: inout Notes) throws(StoreOpenError) {
    let present = Set(state.slots.compactMap { $0?.uuid == uuid ? $0 : nil })
    guard present != notes else { return }
    guard let file = state.file else { throw .unwritable("\(path) can't be opened") }
    for slot in state.slots.indices {
      if let note = state.slots[slot], note.uuid == uuid, !notes.contains(note) {
        try write(nil, slot, file)
        state.slots[slot] = nil
      }
    }
    for note in notes.subtracting(present) {
      guard let slot = state.slots.firstIndex(of: nil) else { throw .unwritable("\(path) is full") }
      try write(note, slot, file)
      state.slots[slot] = note
    }
    if fdatasync(file.raw) != 0 { throw .unwritable(path: path) }
  }

  private func write(_ note: Note?, _ slot: Int, _ file: OwnedDescriptor) throws(StoreOpenError) {
    let text = note.map { "\($0.uuid) \($0.service)" } ?? ""
    guard text.utf8.count < Self.noteBytes else { throw .unwritable("\(path) can't note \(text)") }
    let bytes = Array(text.utf8) + [UInt8](repeating: UInt8(ascii: "\n"), count: Self.noteBytes - text.utf8.count)
    guard pwrite(file.raw, bytes, bytes.count, off_t(slot * Self.noteBytes)) == bytes.count else {
      throw .unwritable(path: path)
    }
  }
}
