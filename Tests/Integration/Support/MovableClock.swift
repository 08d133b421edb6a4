import Foundation
import Glibc

/// A wall clock for one daemon that the test can move: a library in front of libc's `clock_gettime` and of timers with
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

  /// The environment variables for the daemon.
  var environment: [String: String] { ["LD_PRELOAD": library.path, "TEST_CLOCK": offset.path] }

  /// Sets the daemon's clock ahead of the machine's by `seconds`; a negative number sets it back.
  func move(to seconds: Int) throws {
    let next = offset.appendingPathExtension("next")
    try Program.noFileIsBeingWritten.withLock { try Data("\(seconds)".utf8).write(to: next) }
    guard rename(next.path, offset.path) == 0 else { throw Program.Failure(description: "the clock can't be moved") }
  }

  /// The source of the library, which the model under load uses, too.
  private static let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../Model/clock.c").standardizedFileURL
}
