import Foundation

extension SandboxBackend {
  static var controls: [String] { [] }
  static var optionNames: [String] { [] }
  var options: JSONTree { [:] }

  func errorResponse(for status: Int, path: [String]) -> SandboxResponse {
    SandboxResponse(status, json: errorBody(for: status))
  }

  mutating func revokeTokens(of externalID: String, kind: String, at now: Date) throws(ControlMistake) {
    throw ControlMistake("kind", "\(Self.prefix) has one kind of token only; leave it out")
  }

  mutating func setOptions(_ members: ControlMembers) throws(ControlMistake) {}

  mutating func control(_ name: String, _ call: ControlCall) throws(ControlMistake) -> JSONTree {
    throw ControlMistake(nil, "\(Self.prefix) has no \(name)", status: 404)
  }
}
