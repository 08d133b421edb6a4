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
    let wipe: FailedWipe
  }

  private struct Notes {
    var slots: [Note?] = []
    /// The slots whose last write may not be on disk.
    var unsynced: Set<Int> = []
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
    guard words.count == 2 || words.count == 3, words[0].utf8.count == 36 else { return nil }
    var wipe = FailedWipe(service: String(words[1]))
    if words.count == 3 {
      guard let epoch = UInt64(words[2], radix: 16) else { return nil }
      wipe.storageEpoch = epoch
    }
    return Note(uuid: InstanceUUID(String(words[0])), wipe: wipe)
  }

  /// The noted wipes by instance.
  var noted: [InstanceUUID: [FailedWipe]] {
    state.withLock { state in
      Dictionary(grouping: state.slots.compactMap { $0 }, by: \.uuid).mapValues { $0.map(\.wipe) }
    }
  }

  /// Replaces the notes of an instance, and returns once that is on disk. A note of the same service is overwritten, so
  /// that a crash leaves either. After a failure, the next call writes again.
  ///
  /// - Parameter wipes: the storage epochs that the wipes were to end, by service.
  /// - Throws: `unwritable` when the disk fails, or there is no room for another note.
  func set(_ wipes: [String: UInt64], of uuid: InstanceUUID) throws(StoreOpenError) {
    let result = state.withLock { state in
      Result { () throws(StoreOpenError) in try set(wipes, of: uuid, &state) }
    }
    try result.get()
  }

  private func set(
    _ wipes: [String: UInt64], of uuid: InstanceUUID, _ state: inout Notes
  ) throws(StoreOpenError) {
    let slots = state.slots
    var missing = wipes.map { Note(uuid: uuid, wipe: FailedWipe(service: $0.key, storageEpoch: $0.value)) }
    var (changes, obsolete): ([(slot: Int, note: Note?)], [Int]) = ([], [])
    for (slot, found) in slots.enumerated() {
      guard let found, found.uuid == uuid else { continue }
      if let index = missing.firstIndex(where: { $0.wipe.service == found.wipe.service }) {
        let note = missing.remove(at: index)
        if note != found || state.unsynced.contains(slot) { changes.append((slot, note)) }
      } else {
        obsolete.append(slot)
      }
    }
    var free = obsolete + slots.indices.lazy.filter { slots[$0] == nil }.prefix(missing.count)
    for note in missing {
      guard !free.isEmpty else { throw .unwritable("\(path) is full") }
      changes.append((free.removeFirst(), note))
    }
    for slot in obsolete where free.contains(slot) { changes.append((slot, nil)) }
    guard !changes.isEmpty else { return }
    guard let file = state.file else { throw .unwritable("\(path) can't be opened") }
    state.unsynced.formUnion(changes.map { $0.slot })
    for (slot, note) in changes { try write(note, slot, file) }
    if fdatasync(file.raw) != 0 { throw .unwritable(path: path) }
    for (slot, note) in changes { state.slots[slot] = note }
    state.unsynced.subtract(changes.map { $0.slot })
  }

  private func write(_ note: Note?, _ slot: Int, _ file: OwnedDescriptor) throws(StoreOpenError) {
    let epoch = note?.wipe.storageEpoch.map { " " + String($0, radix: 16) } ?? ""
    let text = note.map { "\($0.uuid) \($0.wipe.service)" + epoch } ?? ""
    guard text.utf8.count < Self.noteBytes else { throw .unwritable("\(path) can't note \(text)") }
    let bytes = Array(text.utf8) + [UInt8](repeating: UInt8(ascii: "\n"), count: Self.noteBytes - text.utf8.count)
    guard pwrite(file.raw, bytes, bytes.count, off_t(slot * Self.noteBytes)) == bytes.count else {
      throw .unwritable(path: path)
    }
  }
}
