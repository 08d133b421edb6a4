import Foundation
import JSONRPC
import Testing

/// The requests after a sign-in, and the frames of sockets, whose refusal repeats what was sent: none of it is shown.
@Suite struct VendorEchoCallTests {
  /// A call or a frame that the vendor refuses.
  enum Call: String, CaseIterable {
    case messagingPush, messagingLogout, messagingHandshake, messagingSubscription
    case supportPush, supportAnonymous
    case salesforcePush, salesforceUserinfo, salesforceRevocation
    case chatMediator, ednaPush

    var kind: KindSample {
      switch self {
      case .messagingPush, .messagingLogout, .messagingHandshake, .messagingSubscription: .messaging
      case .supportPush, .supportAnonymous: .support
      case .salesforcePush, .salesforceUserinfo, .salesforceRevocation: .salesforce
      case .chatMediator: .chat
      case .ednaPush: .edna
      }
    }

    var route: String {
      switch self {
      case .messagingPush: "PUT /v2/apps/*/appusers/*/clients/*"
      case .messagingLogout: "POST /v2/apps/*/appusers/*/logout"
      case .messagingHandshake: "WS /zm/faye /meta/handshake"
      case .messagingSubscription: "WS /zm/faye /meta/subscribe"
      case .supportPush: "POST /api/mobile/push_notification_devices.json"
      case .supportAnonymous: "POST /access/sdk/anonymous"
      case .salesforcePush: "POST /services/data/**"
      case .salesforceUserinfo: "GET /services/oauth2/userinfo"
      case .salesforceRevocation: "POST /services/oauth2/revoke"
      case .chatMediator: "WS /mediator register"
      case .ednaPush: "WS /ed/ws updateDevice"
      }
    }

    /// The reply to a frame; `nil` for a request, which gets a status and a body.
    func reply(_ words: String) -> JSON? {
      switch self {
      case .messagingHandshake, .messagingSubscription:
        ["successful": false, "error": .string("403::moonlight \(words)")]
      case .chatMediator: ["__type": "register_ack", "error": .string("moonlight \(words)")]
      case .ednaPush: ["data": ["error": "UNAUTHORIZED", "errorDetails": .string("moonlight \(words)")]]
      default: nil
      }
    }

    var isSocket: Bool { reply("") != nil }
    /// Whether the refusal is not shown: no caller waits for the revocation, and a refused logout is made locally.
    func isQuiet(_ status: Int) -> Bool {
      self == .salesforceRevocation || self == .messagingLogout && (status == 401 || status == 403)
    }
  }

  private static let address = "push/address+of=alice"

  private struct Scene {
    let desk: Desk
    let line: Line
    let call: Call
    var said = ""

    func refuse(_ secrets: [String], _ status: Int) throws {
      let words = secrets.flatMap(VendorEchoTests.forms).joined(separator: " or ")
      var script: JSONObject = ["route": .string(call.route), "times": "forever"]
      if let reply = call.reply(words) {
        script["reply"] = reply
      } else {
        script["status"] = JSON(status)
        script["body"] = call.kind.refusal("moonlight \(words)")
      }
      try desk.vendor.script(.object(script))
    }

    /// Makes a call, and keeps its response whether it succeeds or not.
    @discardableResult
    mutating func make(_ method: String, _ more: JSONObject = [:]) throws -> JSON {
      let params = (["instance": "desk"] as JSONObject).merged(with: more)
      let answer = try line.answer(line.begin(method, .object(params)))
      said += JSONWriter.text(of: answer)
      return answer
    }

    mutating func push(_ more: JSONObject = [:]) throws {
      let endpoint: JSONObject = ["endpoint": ["address": .string(VendorEchoCallTests.address), "type": "fcm"]]
      try make("push.register", endpoint.merged(with: more))
    }

    func signIn() throws -> (token: String, params: JSONObject) {
      let (method, params) = try call.kind.signIn(desk.vendor, "desk", "alice")
      try line.call(method, .object(params))
      return (try line.call("token.get", ["instance": "desk"])["token"]?.stringValue ?? "", params)
    }
  }

  /// Makes the refused call. Returns the secrets that the vendor has repeated.
  private func perform(_ scene: inout Scene, _ status: Int) throws -> [String] {
    let (line, vendor) = (scene.line, scene.desk.vendor)
    switch scene.call {
    case .messagingPush, .supportPush, .ednaPush:
      let secrets = [try scene.signIn().token, Self.address]
      try scene.refuse(secrets, status)
      try scene.push()
      return secrets
    case .messagingLogout:
      let secrets = [try scene.signIn().token]
      try scene.refuse(secrets, status)
      try scene.make("messaging.logoutUser")
      return secrets
    case .messagingHandshake, .messagingSubscription:
      let jwt = try Vendor.mint("alice")
      try scene.refuse([jwt], status)
      try scene.make("messaging.loginUser", ["jwt": .string(jwt)])
      return [jwt]
    case .supportAnonymous:
      try vendor.request("POST", "/_options", ["sdk": "zs", "authentication": "anonymous"])
      try line.call("support.setIdentity", ["instance": "desk", "identity": ["type": "anonymous", "name": "Anna"]])
      let body = try vendor.log().last { $0["body"]?.stringValue?.contains("sdk_guid") == true }?["body"]?.stringValue
      let guid = try JSONParser.parse(body ?? "")["user"]?["sdk_guid"]?.stringValue ?? ""
      #expect(!guid.isEmpty)
      try scene.refuse([guid], status)
      try scene.make("token.refresh")
      return [guid]
    case .salesforcePush:
      let secrets = [try scene.signIn().token, Self.address]
      try scene.refuse(secrets, status)
      try scene.push(["service": "cases"])
      return secrets
    case .salesforceUserinfo:
      _ = try scene.signIn()
      let grant = try vendor.request("POST", "/_grant", ["user": "alice"])
      var settings = ServiceDesk.settings(grant).objectValue ?? [:]
      settings["identityUrl"] = nil
      let secrets = [grant["access_token"]?.stringValue ?? ""]
      try scene.refuse(secrets, status)
      try scene.make("serviceChat.setAuthenticationSettings", ["service": "cases", "settings": .object(settings)])
      return secrets
    case .salesforceRevocation:
      let account = try scene.signIn().params["settings"]?["account"]
      let secrets = ["refresh_token", "access_token"].compactMap { account?[$0]?.stringValue }
      try scene.refuse(secrets, status)
      let (method, params) = KindSample.salesforce.signOut("desk")
      try line.call(method, .object(params))
      try eventually("the revocation has arrived") { try vendor.count("POST", "/services/oauth2/revoke") > 0 }
      return secrets
    case .chatMediator:
      let jwt = try Vendor.mint("alice", ttl: 300, ["--sdk", "chat"])
      try line.call("chat.setIdentity", ["instance": "desk", "jwt": .string(jwt)])
      let token = try line.call("token.get", ["instance": "desk"])["token"]?.stringValue ?? ""
      try scene.refuse([token], status)
      try scene.make("session.open")
      return [token]
    }
  }

  @Test(
    "A credential or address that the vendor repeats later is shown nowhere", arguments: Call.allCases, [401, 403, 500])
  func echo(call: Call, status: Int) throws {
    // Frames have no status.
    if call.isSocket, status != 401 { return }
    let desk = try Desk.open()
    let line = try desk.connect()
    try line.call("daemon.setLogLevel", ["level": "trace"])
    var settings = try call.kind.settings(desk.vendor).merged(with: ["refresh": ["min_interval": 0]])
    switch call {
    case .messagingPush, .messagingLogout: settings["realtime"] = "off"
    case .chatMediator:
      settings["mediator_url"] = .string(try desk.vendor.base("zc", socket: true) + "/mediator")
      settings["fallback"] = "fail"
    default: break
    }
    try desk.create("desk", kind: call.kind.kind, on: line, settings: settings)
    var scene = Scene(desk: desk, line: line, call: call)
    let secrets = try perform(&scene, status)
    func shown() throws -> String {
      try scene.said + JSONWriter.text(of: .array(desk.events("desk", on: line)))
        + JSONWriter.text(of: line.call("instance.get", ["instance": "desk"])) + desk.logs
    }
    if !call.isQuiet(status) {
      try eventually("the vendor's other words arrive") { try shown().contains("moonlight") }
    }
    let said = try shown()
    #expect(!secrets.isEmpty)
    for secret in secrets {
      for form in VendorEchoTests.forms(secret) {
        #expect(!said.contains(form.prefix(20)), "\(form)")
        #expect(!said.contains(form.replacing("/", with: "\\/")), "\(form)")
      }
    }
  }
}
