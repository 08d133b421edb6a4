import Foundation
import Glibc
import JSONRPC

/// A desk with an instance of Service Chat whose token service is glewlwyd behind nginx, which gives it Salesforce's
/// paths. glewlwyd rotates refresh tokens, and ends the whole grant when one is used twice.
final class GlewlwydDesk {
  let service: ServiceDesk
  /// The nginx between the daemon and glewlwyd, which plays the network.
  let wire: Nginx
  private let port: UInt16
  private let wirePort: UInt16
  private let server: PipedProgram

  /// A refresh token that the daemon has presented, and the status that it got.
  struct Presentation: Hashable {
    let token: String
    let status: Int
  }

  init() throws {
    try Counterpart.require("/usr/bin/glewlwyd", package: "glewlwyd")
    let ports = try Nginx.freePorts(2)
    (port, wirePort) = (ports[0], ports[1])
    service = try ServiceDesk(
      client: "desk-app",
      [
        "client_secret": "desk-secret", "login_url": .string("http://127.0.0.1:\(ports[1])"), "services": ["chat"],
      ])
    let folder = service.desk.folder
    server = try PipedProgram(
      "/usr/bin/python3", [Counterpart.script("glewlwyd.py"), folder.path, "\(ports[0])"], in: folder)
    try server.waitForLine("ready")
    wire = try Nginx(in: folder, port: ports[1], servers: Self.servers(ports[1], to: ports[0]))
  }

  private static func servers(_ wire: UInt16, to port: UInt16, _ options: String = "") -> String {
    // Salesforce revokes without a client's credentials; glewlwyd wants those of desk-app, as RFC 7009 says.
    let basic = Data("desk-app:desk-secret".utf8).base64EncodedString()
    let headers = ["token": "", "revoke": "proxy_set_header Authorization \"Basic \(basic)\";", "userinfo": ""]
    let locations = headers.map {
      "location = /services/oauth2/\($0.key) { \($0.value) proxy_pass http://127.0.0.1:\(port)/api/oidc/\($0.key); }"
    }
    return "server { listen 127.0.0.1:\(wire); \(options) \(locations.joined(separator: "\n")) }"
  }

  /// Restarts nginx with other directives, which breaks all of its connections.
  ///
  /// - Parameters:
  ///   - port: where requests go; glewlwyd unless given.
  ///   - options: directives for nginx.
  func rewire(to port: UInt16? = nil, _ options: String = "") throws {
    wire.kill()
    try wire.start(Self.servers(wirePort, to: port ?? self.port, options))
  }

  /// Sends a request to glewlwyd as another client would, past the daemon. Returns `nil` when glewlwyd refuses it.
  func ask(_ path: String = "token", _ fields: [String: String]) throws -> JSON? {
    let all = fields.merging(["client_id": "desk-app", "client_secret": "desk-secret"]) { own, _ in own }
    let arguments = all.flatMap { ["--data-urlencode", "\($0.key)=\($0.value)"] }
    let run = try Counterpart.run(
      "/usr/bin/curl", ["-sf", "http://127.0.0.1:\(port)/api/oidc/\(path)"] + arguments, in: service.desk)
    return run.status == 0 ? try JSONParser.parse(run.output) : nil
  }

  /// Refreshes with a token as a thief would, past the daemon.
  ///
  /// - Returns: the next refresh token; `nil` when glewlwyd refuses.
  func steal(_ token: String) throws -> String? {
    try ask("token", ["grant_type": "refresh_token", "refresh_token": token])?["refresh_token"]?.stringValue
  }

  /// Signs the user in at glewlwyd, and passes the tokens to the daemon.
  ///
  /// - Returns: the refresh token.
  @discardableResult
  func signIn() throws -> String {
    let grant = try ask(
      "token", ["grant_type": "password", "username": "desk", "password": "desk-password", "scope": "openid desk"])
    guard let grant, let refresh = grant["refresh_token"]?.stringValue else {
      throw Program.Failure(description: "glewlwyd does not sign the user in")
    }
    var settings = JSONObject()
    settings["instanceUrl"] = .string("http://127.0.0.1:\(wirePort)")
    settings["identityUrl"] = "https://login.salesforce.com/id/00D000000000001EAA/005000000000001AAA"
    settings["accessToken"] = grant["access_token"]
    settings["refreshToken"] = .string(refresh)
    try service.set(.object(settings))
    return refresh
  }

  /// The refresh tokens that the daemon has presented and that glewlwyd has responded to, oldest first.
  var presentations: [Presentation] {
    wire.requests.filter { $0["uri"]?.stringValue == "/services/oauth2/token" }.compactMap { request in
      let fields = request["body"]?.stringValue?.split(separator: "&") ?? []
      let token = fields.first { $0.hasPrefix("refresh_token=") }?.dropFirst("refresh_token=".count)
      guard let token, let status = request["status"]?.intValue else { return nil }
      return Presentation(token: String(token), status: status)
    }
  }

  /// A count that grows by one with each refresh token that glewlwyd issues. It starts at 1, or at 0 without a log
  /// file.
  var issued: Int {
    let log = try? String(contentsOf: service.desk.folder.appendingPathComponent("glewlwyd.log"), encoding: .utf8)
    return log?.components(separatedBy: "Refresh token generated").count ?? 0
  }

  enum Outcome { case kept, told }

  /// Refreshes until a refresh succeeds (`kept`) or an event reports the loss of the token (`told`).
  func outcome(after events: Int) throws -> Outcome {
    var outcome: Outcome?
    try eventually("the session is kept, or its loss is told", within: 60) {
      let answer = try service.line.answer(service.line.begin("token.refresh", service.params()))
      if answer["error"] == nil { outcome = .kept }
      if try losses() > events { outcome = .told }
      if outcome == nil { usleep(100_000) }
      return outcome != nil
    }
    return outcome ?? .told
  }

  /// Returns the number of events that report an interrupted rotation.
  func losses() throws -> Int {
    try service.events("authenticationFailed", "userLoggedOut", "refreshFailed").count {
      $0["data"]?["reason"] == "rotationInterrupted"
    }
  }
}
