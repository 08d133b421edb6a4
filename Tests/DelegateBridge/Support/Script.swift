import Glibc
import SDKProtocol
import Testing
import Waiting

@testable import DelegateBridge

/// A directory for the programs of one test, removed in `deinit`.
final class ScriptDirectory: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/sdkd-provider-XXXXXX".utf8CString)
    path = try #require(mkdtemp(&template).map { String(cString: $0) })
    // Make this process, like the daemon, the new parent of the programs' orphans.
    SubreaperSweep.adoptOrphans()
  }

  deinit {
    for name in ["provider", "link", "pids", "pid", "done", "sub/provider"] { unlink("\(path)/\(name)") }
    rmdir("\(path)/sub")
    rmdir(path)
  }

  /// Writes an executable file and returns its path.
  @discardableResult
  func write(_ text: String, as name: String = "provider", mode: mode_t = 0o755) throws -> String {
    let full = "\(path)/\(name)"
    let file = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    try #require(file >= 0)
    let bytes = Array(text.utf8)
    let written = Glibc.write(file, bytes, bytes.count)
    fchmod(file, mode)
    close(file)
    try #require(written == bytes.count)
    return full
  }

  /// Writes a shell script and returns its path.
  func shell(_ text: String, as name: String = "provider", mode: mode_t = 0o755) throws -> String {
    try write("#!/bin/sh\n\(text)\n", as: name, mode: mode)
  }

  /// Writes a Python script and returns its path.
  func python(_ text: String) throws -> String { try write("#!/usr/bin/env python3\n\(text)\n") }

  /// Returns the words of a file; none while it does not exist.
  func words(of name: String) -> [String] {
    guard let file = fopen("\(path)/\(name)", "re") else { return [] }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
  }
}

/// Waits until a condition is true. Returns false if it is not true in time.
func eventually(within limit: Duration = .seconds(20), _ condition: () async -> Bool) async -> Bool {
  var patience = Patience(limit)
  while await !condition() {
    if patience.isOver() { return false }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return true
}

/// Whether a process exists and is not merely waiting to be reaped.
func isAlive(_ pid: String) -> Bool {
  guard let pid = pid_t(pid), let entry = ProcessTable().entry(of: pid) else { return false }
  return entry.state != "Z"
}
