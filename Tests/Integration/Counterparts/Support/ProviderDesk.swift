import Foundation
import JSONRPC
import Testing

extension Desk {
  /// Creates the instance `desk` of edna, which takes tokens of any form, with a user and a provider.
  ///
  /// - Returns: the connection that created it.
  func connectEdna(provider: JSONObject) throws -> Line {
    let line = try connect()
    try create(
      "desk", kind: "edna.chatcenter", on: line,
      settings: try KindSample.edna.settings(vendor).merged(with: ["refresh": ["mode": "lazy", "min_interval": 0]]),
      provider: .object(provider))
    let (method, params) = try KindSample.edna.signIn(vendor, "desk", "alice")
    try line.call(method, .object(params))
    return line
  }
}

extension Line {
  /// Gets a new token of the instance `desk` from its provider, and expects that it comes from no cache.
  func refreshDesk() throws -> JSON {
    let token = try call("token.refresh", ["instance": "desk", "timeout": "2m"], within: 150)
    #expect(token["fromCache"] == false)
    return token
  }
}

/// Expects that the daemon knows when a token expires.
func expectLife(_ token: JSON) throws {
  #expect(try #require(token["ttl"]?.doubleValue) > 0, "the expiry of the token is read")
}

extension Counterpart {
  /// Starts glewlwyd as an OAuth 2 server on a free port of loopback.
  static func startGlewlwyd(in desk: Desk) throws -> (server: PipedProgram, port: UInt16) {
    try require("/usr/bin/glewlwyd", package: "glewlwyd")
    let port = try Nginx.freePorts(1)[0]
    let server = try PipedProgram(
      "/usr/bin/python3", [script("glewlwyd.py"), desk.folder.path, "\(port)"], in: desk.folder)
    try server.waitForLine("ready")
    return (server, port)
  }
}
