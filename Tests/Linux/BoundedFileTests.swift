import Foundation
import Glibc
import Testing

@testable import Linux

@Suite(.timeLimit(.minutes(1))) struct BoundedFileTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sdkd-\(UUID().uuidString)").path

  private func inFolder(_ body: (String) throws -> Void) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
  }

  @Test func `A file is read up to its limit, with its mode`() throws {
    try inFolder { folder in
      let path = folder + "/file"
      let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      chmod(path, 0o640)
      let file = try BoundedFile(reading: path, limit: 200_000)
      #expect(file.bytes == bytes)
      #expect(file.mode == FileMode(bits: 0o640, owner: geteuid(), group: getegid()))
      #expect(throws: FileProblem.tooLarge(199_999)) { _ = try BoundedFile(reading: path, limit: 199_999) }
      #expect(BoundedFile.beginning(at: path, limit: 70_000) == Array(bytes[..<70_000]))
    }
  }

  @Test func `Pipes and folders are refused at once`() throws {
    try inFolder { folder in
      let path = folder + "/pipe"
      #expect(mkfifo(path, 0o600) == 0)
      #expect(throws: FileProblem.notAFile) { _ = try BoundedFile(reading: path, limit: 10) }
      #expect(throws: FileProblem.notAFile) { _ = try BoundedFile(reading: folder, limit: 10) }
      #expect(throws: FileProblem.system(ENOENT)) { _ = try BoundedFile(reading: folder + "/pipe\0", limit: 10) }
      #expect(BoundedFile.beginning(at: path, limit: 10) == [])
      #expect(BoundedFile.beginning(at: folder, limit: 10) == nil)
    }
  }

  @Test func `Contents of a pipe that are too long are refused`() throws {
    let pipe = try #require(OwnedDescriptor.pipe())
    #expect(write(pipe.write.raw, "0123456789", 10) == 10)
    #expect(throws: FileProblem.tooLarge(4)) { _ = try BoundedFile.contents(of: pipe.read.raw, limit: 4) }
    pipe.write.close()
    #expect(try BoundedFile.contents(of: pipe.read.raw, limit: 5) == Array("56789".utf8))
  }

  @Test func `Files without a size are read, too`() {
    #expect(BoundedFile.text(at: "/proc/self/stat", limit: 4096)?.hasPrefix("\(getpid()) (") == true)
    #expect(BoundedFile.text(at: "/proc/self/none", limit: 4096) == nil)
  }

  @Test func `Group access counts as others' unless root gave the file to the own group`() {
    func isReadable(_ bits: mode_t, _ owner: uid_t, _ group: gid_t) -> Bool {
      FileMode(bits: bits, owner: owner, group: group).isReadableByOthers
    }
    #expect(!isReadable(0o600, 1000, 1000))
    #expect(isReadable(0o604, 0, getegid()))
    #expect(isReadable(0o640, 1000, getegid()))
    #expect(isReadable(0o640, 0, getegid() + 1))
    #expect(!isReadable(0o640, 0, getegid()))
  }
}
