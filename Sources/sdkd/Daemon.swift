import CLinux
import DelegateBridge
import Glibc
import JSONRPC
import JSONRPCTransport
import Linux
import Logging
import NIOPosix
import SDKInstances
import SDKKinds
import SDKProtocol
import ServiceLifecycle
import StateStore
import Systemd

/// The whole daemon: assembles its parts, runs it, and reports its end.
struct Daemon {
  let paths: DaemonPaths

  /// `EX_USAGE`: systemd passed sockets that can't be used, or the path can't be a socket.
  private static let exitUsage: Int32 = 64
  /// `EX_TEMPFAIL`: another daemon holds the socket or the state.
  private static let exitTaken: Int32 = 75
  /// `EX_NOPERM`: the socket belongs to another user.
  private static let exitForeign: Int32 = 77
  private static let exitFailed: Int32 = 1

  /// The reason why the daemon does not start.
  private struct StartFailure: Error {
    let message: String
    var status = Daemon.exitFailed
  }

  /// Runs until a signal requests the end.
  ///
  /// - Returns: the exit status.
  func run() async -> Int32 {
    // Ignored until they are handled: an early reload or replacement must not end the daemon.
    signal(SIGHUP, SIG_IGN)
    signal(SIGUSR2, SIG_IGN)
    let notifier = Notifier()
    do throws(StartFailure) {
      return try await start(notifier)
    } catch {
      // The failure is for the journal and for `systemctl status`.
      StandardError.write("sdkd: \(error.message)")
      Notifier().status(error.message)
      return error.status
    }
  }

  /// Opens what the daemon needs, and serves.
  ///
  /// - Returns: the exit status.
  private func start(_ notifier: Notifier) async throws(StartFailure) -> Int32 {
    let output = LogOutput.detect()
    let passed = try Self.passedSockets()
    let loaded = paths.load()
    let live = LiveConfiguration(loaded.configuration)
    let writer: LogWriter
    do { writer = try LogSystem.bootstrap(level: loaded.configuration.log.level, output: output) } catch {
      throw StartFailure(message: "The log can't be set up: \(error)")
    }
    defer { _ = writer.flush(deadline: .now + .seconds(2)) }
    let logger = Logger(label: "sdkd")
    let meters = Meters()
    meters.collect(from: writer)
    for refusal in passed.refusals { logger.warning("\(refusal)") }
    for name in passed.refusedNames { notifier.removeStored(named: name) }
    warnOfSameUid(loaded.configuration, logger)
    let socket = passed.sockets.first
    let listener = try listener(socket)
    let socketFile = socketFile(socket, logger)
    let opened: OpenedState
    do {
      opened = try await OpenedState.open(paths, live, logger) { meters.store.count($0) }
    } catch {
      throw StartFailure(
        message: "The state in \(paths.state) is in use: another sdkd runs on it. Stop it, or choose another --state.",
        status: Self.exitTaken)
    }
    // The listener does not run yet, so its socket is still open.
    let restart = ProgramRestart(socket: listener.descriptor, name: socket?.name ?? ProgramRestart.ownSocketName)
    let handOver = HandOver(restart, logger: logger)
    let handed = handOver.receive(passed.stored, opened.database, notifier)
    do {
      try await Composition(
        paths: paths, loaded: loaded, live: live, listener: listener, opened: opened, notifier: notifier,
        logger: logger, meters: meters, log: writer, saysReady: Self.saysReady(output),
        restart: opened.heals ? restart : nil, socketFile: socketFile, handOver: handOver, handed: handed
      ).serve()
      // Otherwise systemctl status would show the last status of this run until the next start.
      notifier.status("")
      _ = writer.flush(deadline: .now + .seconds(2))
      return handOver.finish(notifier) ? 0 : Self.exitFailed
    } catch {
      logger.critical("The daemon ended: \(error)", metadata: ["messageID": "\(JournalMessage.daemonFailed.id)"])
      return Self.exitFailed
    }
  }

  /// Returns the sockets that systemd passed; at most one is a control socket.
  private static func passedSockets() throws(StartFailure) -> ActivatedSockets.Passed {
    do {
      let passed = try ActivatedSockets.take(stored: HandOver.name) {
        isControlSocket($0) || $0 == ProgramRestart.ownSocketName
      }
      if passed.sockets.count > 1 { throw ActivationError.tooMany(count: passed.sockets.count) }
      return passed
    } catch {
      throw StartFailure(message: "The sockets that systemd passed can't be used: \(error)", status: exitUsage)
    }
  }

  private func warnOfSameUid(_ configuration: Configuration, _ logger: Logger) {
    guard paths.isService, configuration.bridge.sameUid else { return }
    logger.warning(
      """
      [bridge] same_uid is on: a provider with command runs with this daemon's user, and so could read the state \
      and secrets of every instance. A provider with unit has a user of its own.
      """)
  }

  /// Returns a listener on the socket that systemd passed, or on one of its own.
  private func listener(_ socket: ActivatedSocket?) throws(StartFailure) -> Listener {
    do throws(ListenerError) {
      guard let socket else { return try bind() }
      guard socket.name == ProgramRestart.ownSocketName else {
        return try Listener(descriptor: socket.fileDescriptor)
      }
      return try Listener(descriptor: socket.fileDescriptor, boundAt: paths.socket)
    } catch {
      let status =
        switch error {
        case .inUse: Self.exitTaken
        case .foreignSocket: Self.exitForeign
        case .notASocket, .pathTooLong, .notListening: Self.exitUsage
        case .system: Self.exitFailed
        }
      throw StartFailure(message: "\(error)", status: status)
    }
  }

  private func socketFile(_ socket: ActivatedSocket?, _ logger: Logger) -> ControlSocketFile? {
    guard let socket, socket.name != ProgramRestart.ownSocketName else {
      return ControlSocketFile(paths.socket, remedy: "Restart the daemon.", logger: logger)
    }
    let unit = socket.name == ActivatedSockets.unnamed ? "sdkd.socket" : socket.name
    let remedy = "Run: systemctl \(paths.isUserDaemon ? "--user " : "")restart \(unit)"
    return socket.path.flatMap { ControlSocketFile($0, remedy: remedy, logger: logger) }
  }

  /// Returns whether a descriptor's name in systemd is that of the control socket: the name of its unit, or none.
  static func isControlSocket(_ name: String) -> Bool {
    name == "sdkd.socket" || name.hasPrefix("sdkd@") && name.hasSuffix(".socket") || name == ActivatedSockets.unnamed
  }

  /// Returns whether to write `sdkd: ready` to standard error, which is read by the user when the daemon is started by
  /// hand.
  private static func saysReady(_ output: LogOutput) -> Bool {
    if case .standardError = output { true } else { false }
  }

  /// Creates the control socket for a daemon started by hand, and its directory if that is missing.
  private func bind() throws(ListenerError) -> Listener {
    Directories.make(Directories.parent(of: paths.socket), mode: paths.isUserDaemon ? 0o700 : 0o755)
    return try Listener.bind(path: paths.socket, mode: 0o666)
  }
}

/// The path of audit records into the log. They bypass the log level; the log's own thread writes them.
enum AuditLog {
  /// Converts an audit record to a log record.
  static func logRecord(_ record: AuditRecord) -> LogRecord {
    var metadata: [String: String] = [:]
    for (field, value) in record.fields { metadata[field.rawValue] = value }
    metadata[AuditField.record.rawValue] = record.kind.rawValue
    return LogRecord(audit: record.message, messageID: record.kind.messageID, metadata: metadata)
  }

  /// The time for which a loss of records makes the health degraded, so that an operator who looks once in a while, and
  /// an alert, notice it.
  private static let memory = Duration.seconds(3600)

  /// Returns the check for `daemon.health`; none if no record was lost within the last hour.
  static func checks(_ lost: LostRecords, at now: ContinuousClock.Instant = .now) -> [DaemonHealth.Check] {
    guard let last = lost.last, now - last < memory else { return [] }
    return [
      .init(
        name: "audit", status: .degraded,
        detail: "\(lost.count) audit records were lost since the start, the last within an hour: journald did not take "
          + "them; look at systemctl status systemd-journald")
    ]
  }
}
