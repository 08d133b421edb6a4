import Foundation
import JSONRPC

/// All namespaces of the sandbox: the unnamed one, and those that requests to `/ns/{name}` create.
actor NamespaceRegistry {
  private let common: Namespace
  private var named: [String: Namespace] = [:]
  private let machine: @Sendable () -> Date

  init(machine: @escaping @Sendable () -> Date = { Date() }) {
    self.machine = machine
    common = Namespace(machine: machine)
  }

  /// Returns the reply of the request's namespace.
  func reply(to request: SandboxRequest) async -> SandboxReply {
    guard let segments = request.segments else {
      return .send(ControlMistake(nil, "the path is not absolute or wrongly encoded").response)
    }
    guard segments.first == "ns" else {
      return await common.reply(to: request, path: segments, origin: request.origin)
    }
    do throws(ControlMistake) {
      guard segments.count > 1 else { throw ControlMistake(nil, "/ns must be followed by a name") }
      let name = segments[1]
      if segments.count == 2, request.method.uppercased() == "DELETE" { return await remove(name) }
      let namespace = try namespace(name)
      let path = Array(segments.dropFirst(2))
      return await namespace.reply(to: request, path: path, origin: "\(request.origin)/ns/\(name)")
    } catch {
      return .send(error.response)
    }
  }

  private func namespace(_ name: String) throws(ControlMistake) -> Namespace {
    if let namespace = named[name] { return namespace }
    let allowed = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
      default: false
      }
    }
    guard allowed, (1...64).contains(name.utf8.count) else {
      throw ControlMistake("ns", "a name is 1 to 64 letters, digits, dots, underscores and hyphens")
    }
    guard named.count < SandboxLimits.namespaces else {
      throw ControlMistake(
        "ns", "at most \(SandboxLimits.namespaces) at a time; DELETE /ns/{name} removes one", status: 503)
    }
    let namespace = Namespace(machine: machine)
    named[name] = namespace
    return namespace
  }

  /// Handles `DELETE /ns/{name}`: removes the namespace and releases its held requests.
  private func remove(_ name: String) async -> SandboxReply {
    await named.removeValue(forKey: name)?.reset()
    return .send(SandboxResponse(200, json: ["removed": .string(name)]))
  }
}
