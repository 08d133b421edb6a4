import Foundation
import Glibc
import JSONRPC
import Testing

/// Stops that must not take longer than quiet ones.
extension Desk {
  /// Starts a daemon with a folder for the test's units, and by default with a grace that no stop may use up.
  static func openForDrain(grace: String = "60s") throws -> Desk {
    let desk = try Desk()
    try FileManager.default.createDirectory(at: desk.unitSockets, withIntermediateDirectories: true)
    try desk.write("sdkd.toml", "\(desk.unitConfiguration)[shutdown]\ngrace = \"\(grace)\"\n")
    try desk.start()
    return desk
  }

  /// The seconds that a stop may take longer than a quiet one. The daemon needs at most 0.3; the rest is for a busy
  /// machine. Without a bound of its own, each of these stops would take a minute.
  static let drainAllowance = 2.0

  /// Stops the daemon, and returns the seconds that this takes.
  @discardableResult
  func timedStop() throws -> Double {
    let start = ContinuousClock.now
    daemon?.signal(SIGTERM)
    let status = daemon?.exit(within: 90)
    #expect(status == 0, "\(daemon?.logText.suffix(500) ?? "")")
    return (ContinuousClock.now - start) / .seconds(1)
  }

  /// Returns the seconds that a stop takes while a connection is open that waits for nothing. The daemon runs
  /// afterwards.
  func quietStop() throws -> Double {
    let line = try connect()
    try line.call("daemon.info")
    let time = try timedStop()
    try start()
    return time
  }

  /// Waits until a provider or a client has made a file in the desk's folder.
  func waits(for file: String) throws {
    try eventually("\(file) is there") {
      FileManager.default.fileExists(atPath: folder.appendingPathComponent(file).path)
    }
  }

  /// Signs alice in, with a provider of this configuration, and begins a refresh.
  func beginRefresh(on line: Line, _ provider: JSON) throws -> Int {
    let slow = (provider.objectValue ?? [:]).merged(with: ["timeout": "10m"])
    try create("desk", on: line, settings: Self.lazy, provider: .object(slow))
    try logIn(on: line)
    return line.begin("token.refresh", ["instance": "desk"])
  }

  /// Settings with which nothing is renewed ahead of time.
  static let lazy: JSONObject = ["refresh": ["mode": "lazy", "min_interval": 0]]

  /// Attaches a delegate for the instance `desk`.
  func attachDelegate() throws -> Line {
    let delegate = try connect()
    try delegate.call("delegate.attach", ["instances": ["desk"]])
    return delegate
  }

  /// Signs alice in without a provider, and attaches a delegate for her.
  func signInWithDelegate(on line: Line) throws -> Line {
    try create("desk", on: line, settings: Self.lazy)
    try logIn(on: line)
    return try attachDelegate()
  }
}
