import Foundation
import JSONRPC

/// The calls of the contract's examples, made at a daemon with the sandbox's vendors.
///
/// What an example can't know, such as a token, is replaced by a value that lives.
final class ContractExamples {
  /// A call as it was made, and its result.
  struct Call {
    let method: String
    let params: JSON
    let result: JSON
  }

  /// The methods in an order in which each finds what it needs.
  static let order = [
    "rpc.discover", "daemon.info", "daemon.health", "daemon.metrics", "daemon.reload", "daemon.setLogLevel",
    "daemon.backup",
    "daemon.rotateKey", "instance.create", "instance.list", "instance.get", "instance.update", "events.subscribe",
    "events.resume", "messaging.loginUser", "messaging.getCurrentUser", "instance.currentUser", "session.open",
    "token.get", "token.refresh", "token.reject", "storage.put", "storage.get", "storage.list", "storage.delete",
    "push.register", "push.list", "push.unregister", "events.list", "events.unsubscribe", "delegate.attach",
    "delegate.detach", "messaging.logoutUser", "support.setIdentity", "support.getIdentity", "support.clearIdentity",
    "serviceChat.setAuthenticationSettings", "serviceChat.getAuthenticationSettings",
    "serviceChat.registerForPushNotifications", "chat.setIdentity", "chat.resetIdentity", "chatCenter.prefill",
    "chatCenter.authorize", "chatCenter.updateData", "chatCenter.getChat", "chatCenter.logout",
    "chatCenter.deauthorizeUser", "messagingInApp.setHiddenPreChat", "messagingInApp.setIdentityToken",
    "messagingInApp.getContinuationToken", "messagingInApp.setLastEventId", "messagingInApp.setPassthrough",
    "messagingInApp.deregisterDevice", "messagingInApp.clearStorage", "messagingInApp.revokeToken", "instance.delete",
  ]

  private let desk: Desk
  private let line: Line
  /// The results so far, by method.
  private var results: [String: JSON] = [:]

  private init() throws {
    desk = try Desk.open()
    line = try desk.connect()
    let samples: [(id: String, kind: KindSample)] = [
      ("help", .support), ("cases", .salesforce), ("visitors", .chat), ("clinic", .edna),
      ("in-app", .inapp),
    ]
    for sample in samples { try desk.create(sample.id, sample.kind, user: "alice", on: line) }
  }

  /// Makes the calls of all examples of a document.
  static func run(_ document: JSON) throws -> [Call] {
    let examples = try ContractExamples()
    return try order.compactMap { method in
      guard let example = example(of: method, in: document) else { return nil }
      return try examples.call(method, example.params)
    }
  }

  /// Returns the example of a method or of a question to delegates.
  static func example(of method: String, in document: JSON) -> (params: JSONObject, result: JSON)? {
    let all = (document["methods"]?.arrayValue ?? []) + (document["x-requests"]?.arrayValue ?? [])
    let found = all.first { $0["name"]?.stringValue == method }
    guard let example = found?["examples"]?.arrayValue?.first, let params = example["params"]?.arrayValue,
      let result = example["result"]?["value"]
    else { return nil }
    return (JSONObject(params.map { ($0["name"]?.stringValue ?? "", $0["value"] ?? .null) }), result)
  }

  private func call(_ method: String, _ params: JSONObject) throws -> Call {
    let params = JSON.object(try alive(params, of: method))
    let result = try line.call(method, params)
    results[method] = result
    return Call(method: method, params: params, result: result)
  }

  /// Returns the params with values that live.
  private func alive(_ params: JSONObject, of method: String) throws -> JSONObject {
    var params = params
    switch method {
    case "instance.create":
      let settings = params["settings"]?.objectValue ?? [:]
      params["settings"] = .object(settings.merged(with: ["base_url": .string(try desk.vendor.messaging)]))
      params["provider"] = try desk.mintingProvider()
    case "messaging.loginUser": params["jwt"] = .string(try Vendor.mint("alice"))
    case "messagingInApp.setIdentityToken": params["identityToken"] = .string(try InAppDesk.jwt())
    case "messagingInApp.setPassthrough":
      params["accessToken"] = try line.call("token.get", ["instance": "in-app"])["token"]
    case "messagingInApp.setLastEventId":
      params["storageEpoch"] = try line.call("session.open", ["instance": "in-app"])["storageEpoch"]
    case "chat.setIdentity": params["jwt"] = .string(try Chat.mint("alice"))
    case "events.resume":
      params["subscription"] = results["events.subscribe"]?["subscription"]
      params["since"] = try line.notification("events.gap")["resume"]
    case "events.unsubscribe": params["subscription"] = results["events.subscribe"]?["subscription"]
    case "token.reject": params["tokenId"] = results["token.get"]?["tokenId"]
    case "push.unregister": params["id"] = results["push.register"]?["id"]
    case "serviceChat.setAuthenticationSettings":
      let grant = try desk.vendor.request("POST", "/_grant", ["user": "alice"])
      params["settings"] = .object(
        JSONObject(
          [
            ("instanceUrl", "instance_url"), ("accessToken", "access_token"), ("refreshToken", "refresh_token"),
            ("identityUrl", "id"),
          ].map { ($0.0, grant[$0.1] ?? .null) }))
    default: break
    }
    return params
  }
}
