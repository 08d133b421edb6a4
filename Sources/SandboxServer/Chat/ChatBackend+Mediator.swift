import Foundation
import JSONRPC

/// The socket at `/zc/mediator`: one register frame and its acknowledgement.
///
/// The vendor's later frames are unknown, so further frames are logged without a response.
extension ChatBackend {
  mutating func open(_ socket: Int, _ call: BackendCall) -> SandboxResponse? {
    guard call.path == ["mediator"] else { return ChatRefusal.standard(for: 404).response(status: 404) }
    openSockets[socket] = .some(nil)
    return nil
  }

  mutating func receive(_ frame: SocketFrame) -> String? {
    if case .some(.some) = openSockets[frame.socket] { return "registered already" }
    let registration = register(frame.tree ?? .null, now: frame.now)
    outbox.append(.send(registration.acknowledgement, to: frame.socket))
    if registration.outcome == .ok {
      openSockets[frame.socket] = registration
    } else {
      outbox.append(.close(frame.socket, code: Self.refused))
    }
    return "register: \(registration.outcome.rawValue)"
  }

  mutating func closed(_ socket: Int) {
    openSockets.removeValue(forKey: socket)
  }

  func sockets(of user: String) -> [Int] {
    openSockets.filter { $0.value?.externalID == user || $0.value?.machine == user }.map { $0.key }
  }

  /// Sends `dropped` to the connected visitors that are banned, and closes their sockets.
  mutating func dropBanned(now: Date) {
    for (socket, registration) in openSockets.sorted(by: { $0.key < $1.key }) {
      guard let registration, isBanned(registration.externalID, registration.machine) else { continue }
      let dropped = ChatRegistration(
        time: now.timeIntervalSince1970, machine: registration.machine, externalID: registration.externalID,
        outcome: .dropped)
      outbox += [.send(dropped.acknowledgement, to: socket), .close(socket, code: Self.refused)]
    }
  }

  func isBanned(_ externalID: String?, _ machine: String?) -> Bool {
    externalID.map(bannedExternalIDs.contains) == true || machine.map(bannedMachines.contains) == true
  }

  /// The close code for a policy violation (RFC 6455, 7.4.1).
  private static let refused = 1008
}

extension ChatBackend {
  /// Decides on a `register` frame and records the outcome:
  ///
  /// - `unknown`: the frame is malformed or its account does not exist.
  /// - `unauthorized`: the id token is unknown, revoked, expired or of another account, or another visitor has the
  ///   machine id.
  /// - `dropped`: the visitor or the machine is banned.
  mutating func register(_ frame: JSON, now: Date) -> ChatRegistration {
    let machine = frame["mid"]?.stringValue
    let (externalID, outcome) = verdict(frame, machine: machine, now: now)
    let registration = ChatRegistration(
      time: now.timeIntervalSince1970, machine: machine, externalID: externalID, outcome: outcome)
    registrations.append(registration)
    if registrations.count > SandboxLimits.record { registrations.removeFirst() }
    return registration
  }

  private mutating func verdict(
    _ frame: JSON, machine: String?, now: Date
  ) -> (externalID: String?, ChatRegistration.Outcome) {
    guard frame["__type"] == "register", let key = frame["accountKey"]?.stringValue, accounts.keys.contains(key),
      let machine, !machine.isEmpty, frame["source"]?.stringValue != nil, frame["source_ver"]?.stringValue != nil
    else { return (nil, .unknown) }
    var externalID: String?
    if let idt = frame.given("idt") {
      guard let text = idt.stringValue, let token = idTokens[text], !token.isRevoked, token.expires > now,
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
