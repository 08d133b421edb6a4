import JSONRPC

/// An error for an invalid control request, with the faulty member.
struct ControlMistake: Error, Equatable {
  /// The faulty JSON member or query item; `nil` if the request as a whole is invalid.
  let member: String?
  let explanation: String
  let status: Int

  init(_ member: String?, _ explanation: String, status: Int = 400) {
    self.member = member
    self.explanation = explanation
    self.status = status
  }

  /// The response `{"error":{"code":"bad_control","member":…,"description":…}}`.
  var response: SandboxResponse {
    let description = member.map { "\($0): \(explanation)" } ?? explanation
    return SandboxResponse(
      status,
      json: [
        "error": .of(["code": "bad_control", "member": .optional(member), "description": .string(description)])
      ])
  }
}
