import Foundation
import Glibc
import SDKProtocol
import Testing

@testable import StateStore

/// The notes of wipes that could not be stored.
@Suite struct FailedWipeFileTests {
  private func services(of sample: Sample, in directory: TemporaryDirectory) async throws -> [String]? {
    let store = try await open(directory)
    let found = try await store.loaded(sample)?.failedWipes
    await store.close()
    return found
  }

  @Test("Notes survive a restart, until they are taken back or the instance is gone")
  func notesSurviveARestart() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    let (one, two, gone) = (try Sample("one"), try Sample("two"), try Sample("gone"))
    for sample in [one, two] { _ = try await store.commit(sample.create) }
    try await store.note(failedWipes: ["": 0], of: one.uuid)
    try await store.note(failedWipes: ["cases": 0, "messaging": 0], of: two.uuid)
    try await store.note(failedWipes: ["": 0], of: gone.uuid)
    await store.close()
    #expect(try await services(of: one, in: directory) == [""])
    #expect(try await services(of: two, in: directory) == ["cases", "messaging"])
    #expect(try !directory.files()["failed-wipes"]!.contains(Data(gone.uuid.description.utf8)))
    let again = try await open(directory)
    try await again.note(failedWipes: [:], of: one.uuid)
    try await again.note(failedWipes: ["messaging": 0], of: two.uuid)
    await again.close()
    #expect(try await services(of: one, in: directory) == [])
    #expect(try await services(of: two, in: directory) == ["messaging"])
    #expect(try directory.permissions(directory.state + "/failed-wipes") == 0o600)
  }

  @Test("A note of an earlier storage epoch than the state's is ignored and deleted")
  func aNoteFromBeforeAWipeIsObsolete() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    try await store.note(failedWipes: ["": 0], of: sample.uuid)
    _ = try await store.commit(sample.change(.wipe, .identify(Sample.identity)))
    await store.close()
    #expect(try await services(of: sample, in: directory) == [])
    #expect(try !directory.files()["failed-wipes"]!.contains(Data(sample.uuid.description.utf8)))
    // An obsolete note does not end the note of another service.
    let again = try await open(directory)
    try await again.note(failedWipes: ["cases": 0, "knowledge": 1], of: sample.uuid)
    await again.close()
    #expect(try await services(of: sample, in: directory) == ["knowledge"])
  }

  @Test("A note of a former version, which has no storage epoch, is in force until the next wipe")
  func aNoteOfAFormerVersionIsInForce() async throws {
    let directory = try TemporaryDirectory()
    var store = try await open(directory)
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    _ = try await store.commit(sample.change(.wipe))
    await store.close()
    let note = Data("\(sample.uuid) ".utf8)
    var bytes = try #require(try directory.files()["failed-wipes"])
    bytes.replaceSubrange(0..<note.count, with: note)
    try bytes.write(to: URL(fileURLWithPath: directory.state + "/failed-wipes"))
    store = try await open(directory)
    #expect(try await store.loaded(sample)?.failedWipes == [""])
    _ = try await store.commit(sample.change(.wipe))
    await store.close()
    #expect(try await services(of: sample, in: directory) == [])
  }

  @Test("A note is in force in a restored backup, until a wipe there is stored")
  func aRestoreKeepsANote() async throws {
    let directory = try TemporaryDirectory()
    var store = try await open(directory)
    let sample = try Sample()
    _ = try await store.commit(sample.fill)
    _ = try await store.backUp(name: "one", keep: 3)
    try await store.note(failedWipes: ["": 0], of: sample.uuid)
    await store.close()
    _ = try StateRestoration.run(directory: directory.state, from: .named("one"))
    store = try await open(directory)
    let restored = try #require(try await store.loaded(sample))
    #expect(restored.failedWipes == [""] && restored.storageEpoch >= StoredInstance.leastRestoredStep)
    _ = try await store.commit(sample.change(.wipe))
    await store.close()
    #expect(try await services(of: sample, in: directory) == [])
  }

  @Test("A note can be written on a full disk", .enabled(if: SmallDisk.canMount, "mounting a tmpfs takes root"))
  func notesOnAFullDisk() async throws {
    let disk = try #require(try SmallDisk(kilobytes: 1024))
    let store = try await open(disk.directory)
    let sample = try Sample()
    _ = try await store.commit(sample.create)
    try disk.fill()
    try await store.note(failedWipes: ["": 0], of: sample.uuid)
    disk.free()
    await store.close()
    #expect(try await services(of: sample, in: disk.directory) == [""])
  }

  @Test("A file that is damaged, cut off or a link keeps no instance locked", arguments: ["junk", "short", "link"])
  func aDamagedFileIsNoNote(damage: String) async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample()
    var store = try await open(directory)
    _ = try await store.commit(sample.create)
    await store.close()
    let file = URL(fileURLWithPath: directory.state + "/failed-wipes")
    switch damage {
    case "junk": try Data((0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 167) }).write(to: file)
    case "short": try Data("\(sample.uuid)".utf8).write(to: file)
    default:
      try FileManager.default.removeItem(at: file)
      try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/dev/full")
    }
    store = try await open(directory)
    #expect(try await store.loaded(sample)?.failedWipes == [])
    let answer = await reason { try await store.note(failedWipes: ["": 0], of: sample.uuid) }
    #expect(answer == (damage == "link" ? .storeUnavailable : nil))
    await store.close()
  }

  @Test("There is room for more notes than instances")
  func theRoomIsBounded() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    for _ in 0..<1024 { try await store.note(failedWipes: ["": 0], of: .random()) }
    #expect(await reason { try await store.note(failedWipes: ["": 0], of: .random()) } == .storeUnavailable)
    await store.close()
    let file = FailedWipeFile(in: try StateDirectory(directory.state), instances: 1000)
    #expect(file.noted.count == 1024)
    for _ in 0..<900 { try file.set(["": 0], of: .random()) }
  }
}
