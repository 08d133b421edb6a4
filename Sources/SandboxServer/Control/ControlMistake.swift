/// A control request that can't be obeyed, and which of its members is to blame.
struct ControlMistake: Error, Equatable {
  /// The JSON member or query item at fault; `nil` when it is the request as a whole.
  let member: String?
  let explanation: String
  let status: Int

  init(_ member: String?, _ explanation: String, status: Int = 400) {
    self.member = member
    self.explanation = explanation
    self.status = status
  }

  /// `{"error":{"code":"bad_control","member":…,"description":…}}`.
  var response: SandboxResponse {
    let description = member.map { "\($0): \(explanation)" } ?? explanation
    return SandboxResponse(
      status,
      json: [
        "error": .of(["code": "bad_control", "member": .optional(member), "description": .string(description)])
      ])
  }
}
