import Foundation
import JSONRPC

extension Desk {
  /// The folder of the sockets of this desk's units, as `bridge.unit_sockets`.
  var unitSockets: URL { folder.appendingPathComponent("u") }

  /// Lines of the configuration that let the daemon find this desk's units.
  var unitConfiguration: String { "[bridge]\nunit_sockets = \"\(unitSockets.path)\"\n" }

  /// Opens a desk whose daemon looks for units in a folder of its own.
  static func openWithUnits() throws -> Desk {
    let desk = try Desk()
    try FileManager.default.createDirectory(at: desk.unitSockets, withIntermediateDirectories: true)
    try desk.write("sdkd.toml", desk.unitConfiguration)
    try desk.start()
    return desk
  }

  /// Starts a listener that runs this shell script for each connection, as systemd does for a socket with `Accept=yes`.
  /// The listener is `systemd-socket-activate`, which ends with the result.
  ///
  /// - Parameters:
  ///   - wrapper: what runs the script; the shipped one.
  ///   - before: a command that runs systemd's program, such as setpriv.
  func unit(
    _ name: String, _ script: String, wrapper: [String] = [Program.path("sdkd-provider")], before: [String] = []
  ) throws -> Program {
    let file = try write("unit-\(name)", "#!/bin/sh\n\(script)\n", mode: 0o755)
    let log = folder.appendingPathComponent("unit-\(name).log")
    let words =
      before + ["/usr/bin/systemd-socket-activate", "-l", unitSockets.appendingPathComponent("\(name).sock").path]
      + ["--accept", "--inetd"] + wrapper + [file.path]
    let program = try Program(words[0], Array(words.dropFirst()), output: log, log: log)
    try eventually("the unit listens", within: 30) { program.logText.contains("Listening on") }
    return program
  }
}
