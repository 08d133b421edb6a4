import Foundation
import Glibc
import Linux
import Testing

@Suite(.timeLimit(.minutes(1))) struct AtomicFileTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sdkd-\(UUID().uuidString)").path

  private func inFolder(_ body: (String) throws -> Void) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder + "/file")
  }

  private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test("A file is replaced with its mode, whatever the former one was")
  func replaced() throws {
    try inFolder { path in
      let file = AtomicFile(path)
      try file.write(Array("one".utf8))
      #expect(try text(path) == "one")
      chmod(path, 0o644)
      let reader = try #require(FileHandle(forReadingAtPath: path))
      try file.write(Array("two".utf8))
      #expect(try text(path) == "two")
      #expect(try BoundedFile(reading: path, limit: 10).mode.bits == 0o600)
      // A reader that opened the former file reads all of it.
      #expect(try reader.readToEnd() == Data("one".utf8))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
    }
  }

  @Test("Neither a link at the path nor what lies under the temporary name is written to")
  func links() throws {
    try inFolder { path in
      let other = folder + "/other"
      try "other".write(toFile: other, atomically: false, encoding: .utf8)
      for name in [path, path + ".new"] {
        #expect(symlink(other, name) == 0)
        try AtomicFile(path).write(Array("new".utf8))
        #expect(try text(path) == "new" && text(other) == "other")
        #expect(access(path + ".new", F_OK) != 0)
        try AtomicFile(path).remove()
      }
    }
  }

  @Test("A file is removed with what an interrupted write has left")
  func removed() throws {
    try inFolder { path in
      let file = AtomicFile(path)
      try file.remove()
      try file.write([1])
      try Data([2]).write(to: URL(fileURLWithPath: path + ".new"))
      try file.remove()
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }
  }

  @Test("A failed write leaves the former file and nothing else")
  func failures() throws {
    try inFolder { path in
      #expect(mkdir(path, 0o700) == 0)
      #expect(throws: SystemCallError("replace \(path)", EISDIR)) { try AtomicFile(path).write([1]) }
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(names == ["file"])
      #expect(throws: SystemCallError("create \(path).d/x.new", ENOENT)) { try AtomicFile(path + ".d/x").write([1]) }
    }
  }
}
