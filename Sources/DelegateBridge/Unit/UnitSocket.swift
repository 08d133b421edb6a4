import CLinux
import Glibc
import Linux

/// The socket of a token provider that is a systemd unit, and whether it is trusted.
///
/// The listener provides credentials to the daemon. So only root or the daemon's user may be able to create the socket,
/// and the listener must run as one of the two. systemd runs as root, or as the user.
struct UnitSocket {
  /// The reason why there is no connection, as a provider's ending.
  struct NoConnection: Error { let ending: ProviderEnding }

  /// The unit's name.
  let name: String
  /// The folder of the sockets.
  let folder: String
  /// The user that may own the socket and listen, besides root.
  var user: uid_t = geteuid()

  private var path: String { "\(folder)/\(name).sock" }
  private var socketUnit: String { UnitName.unit(name, socketsIn: folder) + ".socket" }
  /// The command that shows what the provider wrote to standard error. systemd makes a service for each question.
  var journal: String { "journalctl -u '\(UnitName.unit(name, socketsIn: folder))@*'" }

  /// Connects a non-blocking socket. While the listener's queue is full, waits until the deadline or a cancellation.
  func connect(
    _ socket: OwnedDescriptor, until deadline: ContinuousClock.Instant, isCancelled: () -> Bool
  ) throws(NoConnection) {
    if let problem = UnitName.problem(of: name) { throw NoConnection(ending: .notStarted(problem)) }
    do throws(SafePath.Refusal) {
      try check()
    } catch {
      switch error {
      case .missing(let sentence): throw NoConnection(ending: .notStarted(sentence))
      case .notAllowed(let sentence): throw NoConnection(ending: .notAllowed(sentence))
      }
    }
    try reach(socket, until: deadline, isCancelled)
    var (pid, uid, gid): (pid_t, uid_t, gid_t) = (0, 0, 0)
    guard cl_peer_credentials(socket.raw, &pid, &uid, &gid) == 0, uid == 0 || uid == user else {
      throw NoConnection(
        ending: .notAllowed(
          "The token provider is not asked because a process of uid \(uid) listens on \(path); systemd must."))
    }
  }

  private func check() throws(SafePath.Refusal) {
    let way = SafePath(
      user: user, remedy: "correct provider.unit, or start it with: systemctl enable --now \(socketUnit)")
    let (full, status) = try way.follow(path)
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw .notAllowed("The token provider is not asked because \(full) is no socket.")
    }
    try way.checkOwner(of: full, status)
    // Write permission lets a process connect and request credentials. At most root's or the daemon's own group may
    // have it.
    if status.st_mode & 0o020 != 0, status.st_gid == getegid() || status.st_gid == 0, status.st_mode & 0o002 == 0 {
      return
    }
    guard status.st_mode & 0o022 == 0 else {
      throw .notAllowed(
        "The token provider is not asked because others than the daemon can connect to \(full) "
          + "(mode \(SafePath.mode(status))); set SocketUser=sdkd and SocketMode=0600 in its unit.")
    }
  }

  private func reach(
    _ socket: OwnedDescriptor, until deadline: ContinuousClock.Instant, _ isCancelled: () -> Bool
  ) throws(NoConnection) {
    guard let address = UnixAddress(path: path) else {
      throw NoConnection(
        ending: .notStarted("The path \(path) is too long for a socket; set a shorter bridge.unit_sockets."))
    }
    while true {
      if address.withPointer({ Glibc.connect(socket.raw, $0, $1) }) == 0 { return }
      let problem = errno
      if isCancelled() { throw NoConnection(ending: .cancelled) }
      guard problem == EAGAIN || problem == EINTR, ContinuousClock.now < deadline else {
        throw NoConnection(ending: problem == EAGAIN ? .timedOut : .notStarted(sentence(problem)))
      }
      poll(nil, 0, 20)
    }
  }

  private func sentence(_ problem: Int32) -> String {
    switch problem {
    case ECONNREFUSED:
      "Nobody listens on \(path); start it with: systemctl restart \(socketUnit)."
    case EACCES, EPERM:
      "The daemon's user may not connect to \(path); set SocketUser= in \(socketUnit) to it."
    default: "The token provider's socket \(path) can't be connected: \(SystemCallError.text(of: problem))."
    }
  }
}
