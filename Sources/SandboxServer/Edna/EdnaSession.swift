/// An open socket and its progress through the sign-in steps.
struct EdnaSession: Sendable {
  /// The steps in order; each requires the one before it.
  enum Step: String, Sendable {
    case opened
    case registered
    case initiated
    case informed
  }

  /// The credentials of the upgrade request.
  let credentials: EdnaCredentials
  var step = Step.opened
  /// The client id as sent. `registerDevice` sets it, `user` and `deviceAddress`.
  var clientID = ""
  var user = ""
  var deviceAddress = ""

  func tree(_ socket: Int) -> JSONTree {
    [
      "socket": .number(Double(socket)), "step": .string(step.rawValue), "clientId": .string(user),
      "deviceAddress": .string(deviceAddress),
    ]
  }
}
