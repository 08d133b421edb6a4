import Foundation
import Glibc
import JSONRPC
import Testing

/// A restore by root of a state whose files another user can change.
@Suite(.enabled(if: getuid() == 0, "needs root to restore a state of another user"))
struct RestorationTests {
  private static let owner: UInt32 = 61_234

  /// Returns a stopped desk whose state has an instance and a backup, and belongs to another user.
  private func desk() throws -> Desk {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try line.call("daemon.backup", ["name": "monday"])
    desk.stop()
    try desk.giveState(to: Self.owner)
    return desk
  }

  private func restore(_ desk: Desk, _ copy: String = "monday") throws -> Desk.CommandRun {
    try desk.sdkctl("restore", copy, "--state", desk.state.path)
  }

  /// A script that keeps placing a hot journal beside each database that a restore may be about to read. SQLite deletes
  /// the super-journal that such a journal names.
  private static let planter = """
    import os, struct, sys, time
    state, target = sys.argv[1], sys.argv[2].encode()
    pages = os.path.getsize(state + "/backups/monday.db") // 4096
    header = bytes.fromhex("d9d505f920a163d7") + struct.pack(">IIIII", 0, 1, pages, 512, 4096)
    tail = struct.pack(">I", 0x40000000 // 4096 + 1) + target
    tail += struct.pack(">Ii", len(target), sum(target)) + bytes.fromhex("d9d505f920a163d7")
    journal = header.ljust(512, b"\\0") + tail
    print("ready", flush=True)
    while True:
        for second in (0, 1):
            label = time.strftime("%Y%m%d-%H%M%S", time.gmtime(time.time() + second))
            for stage in ("staging", "restoring"):
                path = state + "/state.db." + stage + ".before-restore-" + label + "-journal"
                try:
                    with open(path, "wb") as file:
                        file.write(journal)
                except OSError:
                    pass
    """

  @Test("A restore by root deletes nothing of root's that a planted journal names")
  func aPlantedJournalDeletesNothing() throws {
    let desk = try desk()
    let important = try desk.write("root-only/important", "of root", mode: 0o600)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: desk.folder.path)
    let script = try desk.write("planter.py", Self.planter)
    let output = desk.folder.appendingPathComponent("planter-out")
    let uid = "\(Self.owner)"
    let planter = try Program(
      "/usr/bin/setpriv",
      ["--reuid=\(uid)", "--regid=\(uid)", "--clear-groups", "/usr/bin/python3", script.path, desk.state.path]
        + [important.path], output: output, log: desk.folder.appendingPathComponent("planter-err"))
    try eventually("journals are planted") {
      if planter.exit(within: 0) != nil { throw Program.Failure(description: planter.logText) }
      return (try? String(contentsOf: output, encoding: .utf8)) == "ready\n"
    }
    for _ in 0..<10 {
      // A restore may fail, but not trap.
      let error = try restore(desk).error
      #expect(!error.contains("Signal") && !error.contains("ended with 132"), "\(error)")
    }
    #expect(try String(contentsOf: important, encoding: .utf8) == "of root")
  }

  @Test("A restore by root leaves every file to the owner of the state, whose directories others can't enter")
  func everyFileIsTheOwners() throws {
    let desk = try desk()
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: desk.folder.path)
    let done = try restore(desk)
    #expect(done.status == 0 && done.output.contains("monday"), "\(done.error)")
    #expect(done.output.contains("\(desk.state.path)/state.db.before-restore-"), "\(done.output)")
    #expect(try desk.stateFiles(notOwnedBy: Self.owner) == [])
    let missing = try restore(desk, "none")
    #expect(missing.status == 1 && missing.error.contains("\(desk.state.path)/backups"), "\(missing.error)")
    // Root may restore a file that only root can read, and the result belongs to the state's owner.
    let elsewhere = desk.folder.appendingPathComponent("elsewhere.db")
    try FileManager.default.copyItem(
      atPath: desk.state.appendingPathComponent("backups/monday.db").path, toPath: elsewhere.path)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: elsewhere.path)
    let given = try restore(desk, elsewhere.path)
    #expect(given.status == 0, "\(given.error)")
    #expect(try desk.stateFiles(notOwnedBy: Self.owner) == [])
    try desk.giveState(to: 0)
    try desk.start()
    #expect(try desk.connect().call("instance.list")["instances"]?.arrayValue?.count == 1)
  }

  @Test("A restore refuses a link in the place of the folder of backups and hands nothing over")
  func aLinkToBackupsIsRefused() throws {
    let desk = try desk()
    let backups = desk.state.appendingPathComponent("backups")
    let secret = desk.folder.appendingPathComponent("root-only")
    try FileManager.default.moveItem(at: backups, to: secret)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: secret.path)
    try FileManager.default.createSymbolicLink(at: backups, withDestinationURL: secret)
    let before = try Data(contentsOf: desk.database)
    for copy in [["monday"], []] {
      let refused = try desk.sdkctl(["restore", "--state", desk.state.path] + copy)
      #expect(refused.status == 1 && refused.error.contains("is a link"), "\(refused.error)")
    }
    #expect(try Data(contentsOf: desk.database) == before)
    #expect(desk.stateFiles("state.db.") == [])
  }

  @Test("Root runs no daemon on a state that belongs to another user")
  func rootRunsNoDaemonOnAStateOfAnother() throws {
    let desk = try desk()
    try desk.start()
    let refusal = try desk.connect().failure("instance.list")
    #expect(refusal.reason == "storeUnavailable" && refusal.message.contains("uid \(Self.owner)"), "\(refusal.message)")
    #expect(try desk.stateFiles(notOwnedBy: Self.owner) == [])
  }

  @Test("A restore by root changes the directory that it has opened, although another user renames that meanwhile")
  func aDirectoryThatIsRenamedMeanwhile() throws {
    let desk = try desk()
    try desk.giveState(to: 0)
    // The copy of the backup takes long enough to rename the directory.
    let backup = desk.state.appendingPathComponent("backups/monday.db").path
    #expect(truncate(backup, 600 << 20) == 0)
    let (moved, decoy) = (desk.folder.appendingPathComponent("moved"), Data("of another user".utf8))
    let restoring = try Program(
      "sdkd", ["--restore", "monday", "--state", desk.state.path],
      output: desk.folder.appendingPathComponent("restored"), log: desk.folder.appendingPathComponent("restore-log"))
    try eventually("the backup is being copied") {
      if let status = restoring.exit(within: 0) {
        throw Program.Failure(description: "it ended with \(status): \(restoring.logText)")
      }
      return desk.stateFiles("state.db.staging").isEmpty == false
    }
    try FileManager.default.moveItem(at: desk.state, to: moved)
    try FileManager.default.createDirectory(at: desk.state, withIntermediateDirectories: true)
    try decoy.write(to: desk.database)
    #expect(restoring.exit(within: 120) == 0, "\(restoring.logText)")
    #expect(try Data(contentsOf: desk.database) == decoy)
    #expect(try FileManager.default.contentsOfDirectory(atPath: desk.state.path) == ["state.db"])
    let names = try FileManager.default.contentsOfDirectory(atPath: moved.path)
    #expect(names.contains { $0.hasPrefix("state.db.before-restore-") } && names.contains("state.db"))
  }

  /// With a second thread sdkd would sometimes trap: libdispatch looks for its threads in `/proc`, which a confined
  /// program can't read.
  @Test("A program that confines itself to the state has one thread")
  func aConfinedProgramHasOneThread() throws {
    let desk = try desk()
    let input = Pipe()
    let program = try Program(
      "sdkd", ["--inspect-key", "--state", desk.state.path], output: desk.folder.appendingPathComponent("inspected"),
      log: desk.folder.appendingPathComponent("inspect-log"), input: input.fileHandleForReading.fileDescriptor)
    // The first thread waits in read(2), which is 0 or, on arm64, 63, for a key from descriptor 0.
    try eventually("it waits for a key") {
      let call = try String(contentsOfFile: "/proc/\(program.pid)/syscall", encoding: .utf8).split(separator: " ")
      return call.count > 1 && ["0", "63"].contains(call[0]) && call[1] == "0x0"
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/\(program.pid)/task").count == 1)
    try input.fileHandleForWriting.write(contentsOf: Data([0]))
    #expect(program.exit(within: 60) == 0)
  }
}
