import Foundation

extension Namespace {
  /// Obeys one of the control requests: `_control`, `_log`, `_clock`, `_keys`, `_revoke`, `_state`.
  func control(_ request: SandboxRequest, path: [String], origin: String) async -> SandboxResponse {
    do throws(ControlMistake) {
      guard path.count == 1, let name = path.first else { throw ControlMistake(nil, "no such control", status: 404) }
      let body = JSONTree(parsing: request.body)
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
      case ("POST", "_revoke"): return SandboxResponse(200, json: try revoke(body))
      case ("GET", "_state"): return SandboxResponse(200, json: state(origin: origin))
      case ("DELETE", "_state"):
        reset()
        return SandboxResponse(200, json: state(origin: origin))
      case (_, "_control"), (_, "_log"), (_, "_clock"), (_, "_keys"), (_, "_revoke"), (_, "_state"):
        throw ControlMistake(nil, "\(request.method) is not known here", status: 405)
      default:
        throw ControlMistake(
          nil, "no such control; there are _control, _log, _clock, _keys, _revoke and _state", status: 404)
      }
      return SandboxResponse(200, json: ["pending": scripts.tree, "held": .number(Double(held.count))])
    } catch {
      return error.response
    }
  }

  /// `GET /_log`; `since` is the least index, `count` with `waitMs` waits until there are so many.
  private func readLog(_ query: [String: String]) async throws(ControlMistake) -> JSONTree {
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

  private func setKey(_ body: JSONTree?) throws(ControlMistake) -> JSONTree {
    let members = try ControlMembers(body, known: ["kid", "secret", "sdk"])
    let kid = try members.requiredText("kid")
    guard members.has("secret") else { throw ControlMistake("secret", "is missing; null removes the key") }
    let secret = try members.text("secret")
    let sdk = try sdk(members)
    try backends[sdk]?.setKey(kid, to: secret)
    return backends[sdk]?.keys ?? []
  }

  private func revoke(_ body: JSONTree?) throws(ControlMistake) -> JSONTree {
    let members = try ControlMembers(body, known: ["externalId", "sdk"])
    let externalID = try members.requiredText("externalId")
    try backends[try sdk(members)]?.revokeTokens(of: externalID, at: clock.now)
    return ["externalId": .string(externalID), "revokedAt": .number(clock.now.timeIntervalSince1970)]
  }

  /// Which backend is meant; Messaging unless told.
  private func sdk(_ members: ControlMembers) throws(ControlMistake) -> String {
    let sdk = try members.text("sdk") ?? MessagingBackend.prefix
    guard backends[sdk] != nil else {
      throw ControlMistake("sdk", "must be one of \(backends.keys.sorted().joined(separator: ", "))")
    }
    return sdk
  }

  private func state(origin: String) -> JSONTree {
    var state: [String: JSONTree] = ["clock": clock.tree]
    for (prefix, backend) in backends { state[prefix] = backend.state(baseURL: "\(origin)/\(prefix)") }
    return .object(state)
  }
}
