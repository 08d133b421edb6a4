/// An open socket and how far it has come.
struct EdnaSession: Sendable {
  /// The steps in their order; each needs the one before.
  enum Step: String, Sendable {
    case opened
    case registered
    case initiated
    case informed
  }

  /// From the upgrade request.
  let credentials: EdnaCredentials
  var step = Step.opened
  /// As sent, and its device's address: set by `registerDevice`.
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
