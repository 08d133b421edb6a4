import Foundation
import JSONRPC

extension Namespace {
  /// Handles a control request: one of `Self.controls`, or one that a backend declares.
  func control(_ request: SandboxRequest, path: [String], origin: String) async -> SandboxResponse {
    do throws(ControlMistake) {
      guard path.count == 1, let name = path.first else { throw ControlMistake(nil, "no such control", status: 404) }
      let body = JSON(parsing: request.body)
      switch (request.method.uppercased(), name) {
      case ("POST", "_control"): try scripts.add(body)
      case ("DELETE", "_control"):
        scripts.clear()
        held.wake()
      case ("GET", "_control"): break
      case ("GET", "_log"): return SandboxResponse(200, json: try await readLog(request.queryItems))
      case ("DELETE", "_log"):
        log.clear()
        return SandboxResponse(200, json: ["requests": []])
      case ("POST", "_clock"):
        try clock.set(body)
        return SandboxResponse(200, json: clock.tree)
      case ("GET", "_clock"): return SandboxResponse(200, json: clock.tree)
      case ("POST", "_keys"): return SandboxResponse(200, json: ["keys": try setKey(body)])
      case ("GET", "_keys"):
        return SandboxResponse(200, json: .object(backends.mapValues(\.keys)))
      case ("POST", "_options"): return SandboxResponse(200, json: ["options": try setOptions(body)])
      case ("GET", "_options"):
        return SandboxResponse(200, json: .object(backends.mapValues { $0.options }))
      case ("POST", "_revoke"): return SandboxResponse(200, json: try revoke(body))
      case ("GET", "_sockets"): return SandboxResponse(200, json: ["sockets": sockets.tree])
      case ("POST", "_push"): return SandboxResponse(200, json: try push(body))
      case ("POST", "_close"): return SandboxResponse(200, json: try close(body))
      case ("GET", "_state"): return SandboxResponse(200, json: state(origin: origin))
      case ("DELETE", "_state"):
        reset()
        return SandboxResponse(200, json: state(origin: origin))
      case ("POST", let name) where owner(of: name) != nil:
        return SandboxResponse(200, json: try obey(name, body, origin: origin))
      default: throw unknown(request.method, name)
      }
      return SandboxResponse(200, json: ["pending": scripts.tree, "held": .number(Double(held.count))])
    } catch {
      return error.response
    }
  }

  private static let controls = [
    "_clock", "_close", "_control", "_keys", "_log", "_options", "_push", "_revoke", "_sockets", "_state",
  ]

  private func unknown(_ method: String, _ name: String) -> ControlMistake {
    let known = (Self.controls + BackendList.all.flatMap { $0.controls }).sorted()
    if known.contains(name) { return ControlMistake(nil, "\(method) is not known here", status: 405) }
    return ControlMistake(nil, "no such control; there are \(known.joined(separator: ", "))", status: 404)
  }

  /// Returns the prefix of the backend that declares this control request.
  private func owner(of name: String) -> String? {
    BackendList.all.first { $0.controls.contains(name) }?.prefix
  }

  private func obey(_ name: String, _ body: JSON?, origin: String) throws(ControlMistake) -> JSON {
    let prefix = owner(of: name) ?? ""
    let call = ControlCall(body: body, now: clock.now, baseURL: "\(origin)/\(prefix)")
    defer { deliver(from: prefix) }
    return try backends[prefix]?.control(name, call) ?? [:]
  }

  private func setOptions(_ body: JSON?) throws(ControlMistake) -> JSON {
    let known = BackendList.all.flatMap { $0.optionNames }
    let any = try ControlMembers(body, known: ["sdk"] + known)
    guard any.has("sdk") else { throw ControlMistake("sdk", "is missing") }
    let sdk = try sdk(any)
    guard let backend = backends[sdk] else { return [:] }
    let members = try ControlMembers(body, known: ["sdk"] + type(of: backend).optionNames)
    try backends[sdk]?.setOptions(members)
    return backends[sdk]?.options ?? [:]
  }

  /// Handles `GET /_log`. `since` is the least index; with `count` and `waitMs` it waits until `count` entries exist.
  private func readLog(_ query: [String: String]) async throws(ControlMistake) -> JSON {
    let since = try Self.number("since", in: query, most: Int(Int32.max)) ?? 0
    let count = try Self.number("count", in: query, most: SandboxLimits.log) ?? 0
    let wait = try Self.number("waitMs", in: query, most: SandboxLimits.delay) ?? 0
    let deadline = ContinuousClock.now.advanced(by: .milliseconds(wait))
    while log.entries(since: since).count < count, !Task.isCancelled {
      let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
      guard left > 0, let place = readers.enter() else { break }
      await place.wait(milliseconds: Int(left.rounded(.up)))
      readers.leave(place)
    }
    return ["requests": .array(log.entries(since: since).map(\.tree))]
  }

  private static func number(
    _ name: String, in query: [String: String], most: Int
  ) throws(ControlMistake) -> Int? {
    guard let text = query[name] else { return nil }
    guard let number = Int(text), (0...most).contains(number) else {
      throw ControlMistake(name, "must be a whole number from 0 to \(most)")
    }
    return number
  }

  private func setKey(_ body: JSON?) throws(ControlMistake) -> JSON {
    let members = try ControlMembers(body, known: ["kid", "secret", "sdk"])
    let kid = try members.requiredText("kid")
    guard members.has("secret") else { throw ControlMistake("secret", "is missing; null removes the key") }
    let secret = try members.text("secret")
    let sdk = try sdk(members)
    try backends[sdk]?.setKey(kid, to: secret)
    return backends[sdk]?.keys ?? []
  }

  private func revoke(_ body: JSON?) throws(ControlMistake) -> JSON {
    let members = try ControlMembers(body, known: ["externalId", "kind", "sdk"])
    let externalID = try members.requiredText("externalId")
    let sdk = try sdk(members)
    if let kind = try members.text("kind") {
      try backends[sdk]?.revokeTokens(of: externalID, kind: kind, at: clock.now)
    } else {
      try backends[sdk]?.revokeTokens(of: externalID, at: clock.now)
    }
    return ["externalId": .string(externalID), "revokedAt": .number(clock.now.timeIntervalSince1970)]
  }

  /// Returns the prefix of the backend that the member `sdk` names. Default: Messaging.
  func sdk(_ members: ControlMembers) throws(ControlMistake) -> String {
    let sdk = try members.text("sdk") ?? MessagingBackend.prefix
    guard backends[sdk] != nil else {
      throw ControlMistake("sdk", "must be one of \(backends.keys.sorted().joined(separator: ", "))")
    }
    return sdk
  }

  private func state(origin: String) -> JSON {
    var state: [String: JSON] = ["clock": clock.tree]
    for (prefix, backend) in backends { state[prefix] = backend.state(baseURL: "\(origin)/\(prefix)") }
    return .object(state)
  }
}
