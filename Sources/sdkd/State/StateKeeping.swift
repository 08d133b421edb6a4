import Glibc
import Logging
import SDKProtocol
import StateStore

/// The maintenance of the state: backups, keys, and their checks in `daemon.health`.
struct StateKeeping {
  let opened: OpenedState
  /// The state directory.
  let directory: String
  let settings: @Sendable () -> BackupSettings
  private let status = BackupService.Status()

  /// Returns the service that makes backups at intervals; `nil` when the state can't be used.
  func service(_ logger: Logger) -> BackupService? {
    opened.database.map { BackupService(store: $0, settings: settings, status: status, logger: logger) }
  }

  /// The checks of the state for `daemon.health`.
  var checks: [DaemonHealth.Check] {
    opened.database.map { StateChecks(store: $0, backups: status, directory: directory).all } ?? []
  }

  /// The time of the newest backup that the schedule has made; `nil` if there is none.
  var lastBackup: Timestamp? { opened.database?.backups.first(where: \.isOwn)?.createdAt }

  /// Makes a backup now.
  func backUp(_ params: DaemonBackup.Params) async throws -> DaemonBackup.Result {
    let copy = try await opened.usable.backUp(name: params.name, keep: settings().keep)
    return DaemonBackup.Result(name: copy.name, bytes: copy.bytes, createdAt: copy.createdAt)
  }

  /// Replaces the master key.
  func rotateKey() async throws -> DaemonRotateKey.Result {
    DaemonRotateKey.Result(rewrapped: try await opened.usable.rotateKey())
  }
}

/// The checks of `daemon.health` that concern the state: its key, backups, free disk space, and files set aside.
struct StateChecks {
  let store: SQLiteStateStore
  let backups: BackupService.Status
  /// The state directory.
  let directory: String

  /// The current checks.
  var all: [DaemonHealth.Check] { [key, lastBackup] + unfinishedBackups + room + setAside + notices }

  private var key: DaemonHealth.Check {
    let detail =
      switch store.meta.rootKey {
      case .file: "root.key"
      case .credential: "sdkd.key"
      case .nextCredential:
        // systemd gives the credentials at the start, so the daemon can't notice when the rotation is finished.
        "sdkd.key.next, as of the last start; make it sdkd.key with sdkctl key rotate --finish, unless that is done"
      }
    return .init(name: "key", status: .ok, detail: detail)
  }

  private var lastBackup: DaemonHealth.Check {
    if let failure = backups.failure {
      return .init(name: "backup", status: .degraded, detail: "the last backup failed: \(failure)")
    }
    return .init(
      name: "backup", status: .ok,
      detail: store.backups.first.map { "\($0.name) of \($0.createdAt)" } ?? "no backup yet")
  }

  /// The check of the backups that could not be changed; empty without such a backup.
  private var unfinishedBackups: [DaemonHealth.Check] {
    let backups = store.unfinishedBackups
    guard !backups.isEmpty else { return [] }
    let names = backups.prefix(8).map { "\($0.name) (\($0.problem))" }.joined(separator: "; ")
    return [
      .init(
        name: "backup", status: .degraded,
        detail: "destroyed keys are still in a backup that can't be changed now: \(names); "
          + "end the program that uses it, repair the disk, or delete the backup")
    ]
  }

  /// The check of free disk space; empty unless less is free than a backup needs.
  private var room: [DaemonHealth.Check] {
    var disk = statvfs()
    guard statvfs(directory, &disk) == 0 else { return [] }
    let free = Int(clamping: UInt64(disk.f_bavail) &* UInt64(disk.f_frsize))
    var database = stat()
    let needed = stat("\(directory)/state.db", &database) == 0 ? max(1 << 20, Int(database.st_size)) : 1 << 20
    guard free < needed else { return [] }
    return [
      .init(
        name: "disk", status: .degraded,
        detail: "\(free >> 10) KiB are free in \(directory), less than a backup takes; free some space")
    ]
  }

  /// The problems noticed when the state was opened. Each stays until an operator deletes the file that records it.
  private var notices: [DaemonHealth.Check] {
    store.notices.map { .init(name: "state", status: .degraded, detail: $0.text) }
  }

  private var setAside: [DaemonHealth.Check] {
    let names = store.setAside
    guard !names.isEmpty else { return [] }
    let isDamage = names.contains { $0.hasPrefix("state.db.corrupt-") }
    return [
      .init(
        name: "setAside", status: isDamage ? .degraded : .ok,
        detail: "\(names.joined(separator: ", ")): may hold keys that were destroyed since; look at it and delete it")
    ]
  }
}
