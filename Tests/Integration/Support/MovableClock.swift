import Foundation
import Glibc

/// A wall clock of one daemon's own, moved by the test: a library in front of libc's `clock_gettime` and of timers with
/// an absolute time.
struct MovableClock {
  private let offset: URL
  private let library: URL

  init(in desk: Desk) throws {
    offset = try desk.write("clock", "0")
    library = desk.folder.appendingPathComponent("clock.so")
    let program = try Program(
      "/usr/bin/env", ["clang", "-shared", "-fPIC", "-o", library.path, Self.source.path],
      output: desk.folder.appendingPathComponent("clang.out"), log: desk.folder.appendingPathComponent("clang.log"))
    guard program.exit(within: 60) == 0 else { throw Program.Failure(description: "clang: \(program.logText)") }
  }

  /// What the daemon is started with.
  var environment: [String: String] { ["LD_PRELOAD": library.path, "TEST_CLOCK": offset.path] }

  /// Moves the daemon's clock to so many seconds from the machine's.
  func move(to seconds: Int) throws {
    let next = offset.appendingPathExtension("next")
    try Program.noFileIsBeingWritten.withLock { try Data("\(seconds)".utf8).write(to: next) }
    guard rename(next.path, offset.path) == 0 else { throw Program.Failure(description: "the clock can't be moved") }
  }

  /// The library's source, which the model under load uses, too.
  private static let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../Model/clock.c").standardizedFileURL
}
