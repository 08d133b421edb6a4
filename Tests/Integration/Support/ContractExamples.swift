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
  static let order: [String] =
    common + KindSample.all.flatMap { $0.examples?.calls.map(\.method) ?? [] } + ["instance.delete"]

  /// The methods of all kinds, and those of the kind of their examples.
  private static let common = [
    "rpc.discover", "daemon.info", "daemon.health", "daemon.metrics", "daemon.reload", "daemon.setLogLevel",
    "daemon.backup",
    "daemon.rotateKey", "instance.create", "instance.list", "instance.get", "instance.update", "events.subscribe",
    "events.resume", "messaging.loginUser", "messaging.getCurrentUser", "instance.currentUser", "session.open",
    "token.get", "token.refresh", "token.reject", "storage.put", "storage.get", "storage.list", "storage.delete",
    "push.register", "push.list", "push.unregister", "events.list", "events.unsubscribe", "delegate.attach",
    "delegate.detach", "messaging.logoutUser",
  ]

  /// The calls of the other kinds, by method.
  private static let ofKinds: [String: (sample: KindSample, call: KindSample.Call)] = Dictionary(
    uniqueKeysWithValues: KindSample.all.flatMap { sample in
      (sample.examples?.calls ?? []).map { ($0.method, (sample: sample, call: $0)) }
    })

  private let desk: Desk
  private let line: Line
  /// The results so far, by method.
  private var results: [String: JSON] = [:]

  private init() throws {
    desk = try Desk.open()
    line = try desk.connect()
    for sample in KindSample.all {
      guard let instance = sample.examples?.instance else { continue }
      try desk.create(instance, sample, user: "alice", on: line)
    }
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
    case "events.resume":
      params["subscription"] = results["events.subscribe"]?["subscription"]
      params["since"] = try line.notification("events.gap")["resume"]
    case "events.unsubscribe": params["subscription"] = results["events.subscribe"]?["subscription"]
    case "token.reject": params["tokenId"] = results["token.get"]?["tokenId"]
    case "push.unregister": params["id"] = results["push.register"]?["id"]
    default:
      guard let (sample, call) = Self.ofKinds[method], let instance = sample.examples?.instance else { break }
      let own: JSONObject = ["instance": .string(instance)]
      // No vendor of the sandbox refuses a JWT of five minutes.
      let live = try sample.filled(call, desk.vendor, "alice", ttl: 300) { place in
        switch place {
        case "token": try line.call("token.get", .object(own))["token"]?.stringValue
        case "storageEpoch": try line.call("session.open", .object(own))["storageEpoch"]?.stringValue
        default: nil
        }
      }
      params = params.merged(with: live.params)
    }
    return params
  }
}
