import Foundation

extension ChatBackend {
  /// Decides on a `register` frame and records the outcome:
  ///
  /// - `unknown`: the frame is malformed or its account does not exist.
  /// - `unauthorized`: the id token is unknown, revoked, expired or of another account, or another visitor has the
  ///   machine id.
  /// - `dropped`: the visitor or the machine is banned.
  mutating func register(_ frame: JSONTree, now: Date) -> ChatRegistration {
    let machine = frame["mid"]?.text
    let (externalID, outcome) = verdict(frame, machine: machine, now: now)
    let registration = ChatRegistration(
      time: now.timeIntervalSince1970, machine: machine, externalID: externalID, outcome: outcome)
    registrations.append(registration)
    if registrations.count > SandboxLimits.record { registrations.removeFirst() }
    return registration
  }

  private mutating func verdict(
    _ frame: JSONTree, machine: String?, now: Date
  ) -> (externalID: String?, ChatRegistration.Outcome) {
    guard frame["__type"] == "register", let key = frame["accountKey"]?.text, accounts.keys.contains(key),
      let machine, !machine.isEmpty, frame["source"]?.text != nil, frame["source_ver"]?.text != nil
    else { return (nil, .unknown) }
    var externalID: String?
    if let idt = frame["idt"] {
      guard let text = idt.text, let token = idTokens[text], !token.isRevoked, token.expires > now,
        let visitor = visitors[token.visitor], visitor.accountKey == key
      else { return (nil, .unauthorized) }
      externalID = visitor.externalID
    }
    if isBanned(externalID, machine) { return (externalID, .dropped) }
    guard let externalID else { return (nil, .ok) }
    guard machines[machine] == nil || machines[machine] == externalID else { return (externalID, .unauthorized) }
    machines[machine] = externalID
    return (externalID, .ok)
  }
}
