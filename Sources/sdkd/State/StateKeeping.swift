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

  init(opened: OpenedState, directory: String, settings: @escaping @Sendable () -> BackupSettings) {
    self.opened = opened
    self.directory = directory
    self.settings = settings
  }

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
