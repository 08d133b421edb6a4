import Foundation
import JSONRPC

/// A change of the identity.
enum IdentityChange: String, CaseIterable {
  /// A login without a former user.
  case first
  /// A login of another user.
  case other
  /// A login of the same user with a new credential.
  case again
  case signOut
  case lock
  /// A login of the same user after a lock.
  case unlock

  /// Whether the instances of a kind have this change.
  func isKnown(to sample: KindSample) -> Bool {
    switch self {
    case .other: sample.replacesUsers
    case .lock, .unlock: sample.lock != nil
    case .first, .again, .signOut: true
    }
  }

  /// The signed-in user after the change; `nil` if there is none. Each instance has its own users, because a
  /// vendor may limit the credentials of a user.
  func user(of instance: String) -> String? {
    switch self {
    case .first, .other: "bob-\(instance)"
    case .again, .unlock: "alice-\(instance)"
    case .signOut, .lock: nil
    }
  }
}

/// A desk for the order of calls. Each call that concerns an instance has an instance of its own.
final class IdentityChangeDesk {
  /// A method with the params of a call, as the contract declares it.
  struct Probe {
    let method: String
    /// Whether one kind only has the method.
    let isOfOneKind: Bool
    let instance: String
    let params: JSON
    /// A text that only this call stores.
    let mark: String
    /// Texts in the answers to the former user.
    let former: [String]

    /// The text that the method removes; `nil` for a method that stores something.
    var removed: String? { params["id"]?.stringValue ?? (mark(in: params) ? nil : "draft of alice") }

    private func mark(in params: JSON) -> Bool { JSONWriter.text(of: params).contains(mark) }
  }

  let desk: Desk
  private(set) var line: Line
  let sample: KindSample
  let change: IdentityChange
  private let methods: [JSON]

  init(_ sample: KindSample, _ change: IdentityChange) throws {
    desk = try Desk.open()
    line = try desk.connect()
    self.sample = sample
    self.change = change
    methods = try line.call("rpc.discover")["methods"]?.arrayValue ?? []
  }

  // MARK: Calls

  /// The methods of the kind that read or write an instance, except changes of the identity. `instance.get` is left
  /// out, because it does not wait for a login.
  func probes(writes: Bool) throws -> [Probe] {
    let changes = [try signIn("", "nobody").method, sample.signOut("").method, sample.lock?("").method, "instance.get"]
    return try methods.compactMap { method in
      guard let name = method["name"]?.stringValue, let declared = method["x-sdkd"], !changes.contains(name),
        !sample.unprobed.contains(name),
        ["observe", "use", "control"].contains(declared["role"]?.stringValue),
        [sample.kind, nil].contains(declared["kind"]?.stringValue),
        (declared["ordering"] == "write") == writes
      else { return nil }
      let params = method["params"]?.arrayValue ?? []
      let required = params.filter { $0["required"] == true }.compactMap { $0["name"]?.stringValue }
      guard required.contains("instance") else { return nil }
      let members = required == ["instance"] && writes ? required + ["labels"] : required
      return try probe(name, members, isOfOneKind: declared["kind"] != nil)
    }
  }

  /// Creates the probe's instance in the state before the change.
  private func probe(_ method: String, _ members: [String], isOfOneKind: Bool) throws -> Probe {
    let id = "i-" + method.lowercased()
    try desk.create(id, sample, user: "alice-\(id)", on: line)
    var former = JSONObject()
    if change != .first {
      let (signIn, params) = try signIn(id, "alice-\(id)")
      try line.call(signIn, .object(params))
      let token = try line.call("token.get", ["instance": .string(id)])
      former["tokenId"] = token["tokenId"]
      former["token"] = token["token"]
      try line.call("storage.put", ["instance": .string(id), "key": "draft", "value": "draft of alice"])
      if sample.unansweredPush != nil {
        let endpoint: JSON = ["address": .string("push-of-alice-\(id)"), "type": "fcm"]
        former["id"] = try line.call("push.register", ["instance": .string(id), "endpoint": endpoint])["id"]
      }
    }
    let mark = "mark-of-\(id)"
    var params: JSONObject = [:]
    for member in members {
      params[member] =
        switch member {
        case "instance": .string(id)
        case "service": try signIn(id, "nobody").params["service"] ?? .null
        case "key": "draft"
        case "value", "message": .string(mark)
        case "data", "labels": ["mark": .string(mark)]
        case "endpoint": ["address": .string(mark), "type": "fcm"]
        case "tokenId", "id": former[member] ?? "unknown"
        default: throw Program.Failure(description: "\(method) has a param without a value here: \(member)")
        }
    }
    return Probe(
      method: method, isOfOneKind: isOfOneKind, instance: id, params: .object(params), mark: mark,
      former: ["token", "tokenId"].compactMap { former[$0]?.stringValue } + ["alice"])
  }

  private func signIn(_ instance: String, _ user: String) throws -> (method: String, params: JSONObject) {
    try sample.signIn(desk.vendor, instance, user)
  }

  /// Locks the instances of probes with the kind's own call.
  func lock(_ probes: [Probe]) throws {
    guard let lock = sample.lock else { return }
    for probe in probes {
      let (method, params) = lock(probe.instance)
      try line.call(method, .object(params))
    }
  }

  /// Slows the vendor down, and makes providers supply the user of the change.
  func slowDown(_ probes: [Probe]) throws {
    try desk.vendor.script(["route": "/**", "delayMs": 150, "passThrough": true, "times": "forever"])
    try desk.vendor.script(["route": "WS /**", "delayMs": 100, "times": "forever"])
    for probe in probes {
      guard let script = change.user(of: probe.instance).flatMap(sample.provider) else { continue }
      _ = try desk.provider(script, name: "provider-\(probe.instance)")
    }
  }

  /// Begins the change on an instance, without waiting for a login where the kind accepts one.
  func beginChange(_ instance: String) throws -> Int {
    var (method, params) =
      switch change {
      case .signOut: sample.signOut(instance)
      case .lock: sample.lock?(instance) ?? sample.signOut(instance)
      default: try signIn(instance, change.user(of: instance) ?? "")
      }
    if [.first, .other, .unlock].contains(change) { params["wait"] = nil }
    return line.begin(method, .object(params))
  }

  func begin(_ probe: Probe) -> Int { line.begin(probe.method, probe.params) }

  /// Makes a probe's call again. For a refresh, it is the call that returns the refreshed token.
  func again(_ probe: Probe) throws -> JSON {
    try line.answer(
      line.begin(probe.method == "token.refresh" ? "token.get" : probe.method, probe.params))
  }

  func waitForTheChange(_ instance: String) throws {
    try eventually("the identity of \(instance) has changed") {
      try desk.state(of: instance, on: line) != "authenticating"
    }
  }

  /// Returns the text of all that calls show of a probe's instance, without tokens.
  func shown(_ probe: Probe) throws -> String {
    var calls: [(String, JSONObject)] = [("storage.get", ["key": "draft"]), ("push.list", [:]), ("instance.get", [:])]
    for method in methods where method["x-sdkd"]?["kind"]?.stringValue == sample.kind {
      let required = method["params"]?.arrayValue?.filter { $0["required"] == true } ?? []
      guard method["x-sdkd"]?["ordering"] == "read", required.count == 1, let name = method["name"]?.stringValue
      else { continue }
      calls.append((name, [:]))
    }
    let own: JSONObject = ["instance": .string(probe.instance)]
    return try calls.map { method, params in
      JSONWriter.text(of: try line.answer(line.begin(method, .object(own.merged(with: params)))))
    }
    .joined(separator: "\n")
  }

  func crash() throws {
    try desk.crash()
    line = try desk.connect()
  }

  // MARK: Answers

  /// The members that differ between two answers to the same call in succession.
  private static let volatile = ["id", "ttl", "fromCache"]

  /// Returns the text of an answer that two calls with the same result have in common. Of a session, that is the user,
  /// the token and the storage, because the first session learns the rest.
  static func essence(_ answer: JSON) -> String {
    if let error = answer["error"] { return "error \(error["data"]?["reason"]?.stringValue ?? "")" }
    guard let result = answer["result"], result["endpoint"] != nil else {
      return JSONWriter.text(of: stable(answer["result"] ?? .null))
    }
    let parts = [result["user"]?["externalId"], result["token"]?["token"], result["storageEpoch"]]
    return JSONWriter.text(of: .array(parts.map { $0 ?? .null }))
  }

  private static func stable(_ json: JSON) -> JSON {
    switch json {
    case .object(let object):
      .object(JSONObject(object.members.filter { !volatile.contains($0.key) }.map { ($0.key, stable($0.value)) }))
    case .array(let elements): .array(elements.map(stable))
    default: json
    }
  }
}
