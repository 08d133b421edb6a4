import Foundation

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
