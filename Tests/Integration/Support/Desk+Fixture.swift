import Foundation
import Testing

extension Desk {
  /// Returns the folder of a recorded state.
  static func fixture(_ name: String) -> URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fixtures/\(name)")
  }

  /// Returns a stopped desk with a recorded state, and the environment for a daemon whose clock shows a time after the
  /// recording.
  ///
  /// Recorded tokens live for an hour, and recorded deliveries are dropped after a day.
  static func recorded(
    _ name: String, files: [String] = ["state.db", "root.key"], secondsLater: Int
  ) throws -> (desk: Desk, environment: [String: String]) {
    let desk = try Desk()
    try FileManager.default.createDirectory(
      at: desk.state.appendingPathComponent("backups"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: desk.state.path)
    for file in files {
      let copy = desk.state.appendingPathComponent(file)
      try Data(contentsOf: fixture(name).appendingPathComponent(file)).write(to: copy)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy.path)
    }
    let text = try String(contentsOf: fixture(name).appendingPathComponent("recorded-at"), encoding: .utf8)
    let recordedAt = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    let clock = try MovableClock(in: desk)
    try clock.move(to: recordedAt + secondsLater - Int(Date().timeIntervalSince1970))
    return (desk, clock.environment)
  }
}
