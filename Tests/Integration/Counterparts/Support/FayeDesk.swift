import Foundation
import Glibc
import JSONRPC

/// A desk with the instance `desk`, whose realtime server is Faye behind nginx.
final class FayeDesk {
  let desk: Desk
  let line: Line
  /// The nginx between the daemon and Faye, which plays the network.
  let wire: Nginx
  private let port: UInt16
  private(set) var faye: PipedProgram

  init(provider: (Desk) throws -> JSON? = { _ in nil }) throws {
    try Counterpart.require("/usr/lib/ruby/vendor_ruby/faye.rb", package: "ruby-faye")
    try Counterpart.require("/usr/bin/thin", package: "thin")
    desk = try Desk.open()
    let ports = try Nginx.freePorts(2)
    port = ports[0]
    faye = try Self.server(port, in: desk)
    wire = try Nginx(
      in: desk.folder, port: ports[1],
      servers: "server { listen 127.0.0.1:\(ports[1]); location / { proxy_pass http://127.0.0.1:\(ports[0]); } }")
    line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: ["realtime_url": .string("ws://127.0.0.1:\(ports[1])/faye")],
      provider: try provider(desk))
  }

  /// The seconds for which this Faye holds `/meta/connect`. It forgets a client that is silent for twice as long.
  private static let timeout = 20

  private static func server(_ port: UInt16, in desk: Desk) throws -> PipedProgram {
    let server = try PipedProgram(
      "/usr/bin/ruby", [Counterpart.script("faye.rb"), "\(port)", "\(timeout)"], in: desk.folder)
    try server.waitForLine("{\"ready\":true}")
    return server
  }

  /// Kills Faye and starts it again, without any of its clients.
  func restartServer() throws {
    faye.kill()
    faye = try Self.server(port, in: desk)
  }

  /// Breaks the network, and waits until Faye has noticed.
  func cutWire() throws {
    let closed = count("closed")
    wire.kill()
    try eventually("Faye sees that the connection broke") { count("closed") > closed }
  }

  /// Returns the messages on a channel that have reached this Faye, oldest first.
  func messages(_ channel: String) -> [JSON] {
    faye.lines.compactMap { try? JSONParser.parse($0) }.filter { $0["channel"]?.stringValue == channel }
  }

  func count(_ channel: String) -> Int { messages(channel).count }

  /// Logs alice in and waits until the connection is good: Faye holds a `/meta/connect`.
  ///
  /// - Returns: the id of the user.
  func logIn() throws -> String {
    try desk.logIn(on: line)
    try waitForConnection()
    return try desk.user(on: line)["id"]?.stringValue ?? ""
  }

  /// Waits until Faye has answered a `/meta/connect` after the latest handshake, and holds the next.
  func waitForConnection() throws {
    try eventually("Faye holds a connect request", within: 60) {
      let channels = faye.lines.compactMap { try? JSONParser.parse($0) }.compactMap { $0["channel"]?.stringValue }
      guard let handshake = channels.lastIndex(of: "/meta/handshake") else { return false }
      let since = channels[handshake...]
      return since.contains("/meta/subscribe") && since.count { $0 == "/meta/connect" } >= 2
    }
  }

  /// Publishes that a user was merged into another.
  func merge(_ user: String, into survivor: String) {
    faye.send([
      "publish": .string("/sdk/apps/\(Desk.app)/appusers/\(user)"),
      "data": [
        "events": [
          [
            "type": "user:merge", "survivingAppUser": ["_id": .string(survivor), "userId": "alice"],
            "outgoingAppUserId": .string(user),
          ]
        ]
      ],
    ])
  }

  func waitForUser(_ id: String) throws {
    try eventually("the user is \(id)", within: 60) { try desk.user(on: line)["id"] == .string(id) }
  }
}
