import Glibc
import Linux

/// Root keys as encrypted systemd credentials, in the directory from which the daemon's units load them.
///
/// They are bound to the secret of this machine (`--with-key=host`), not to its boot state. They therefore survive an
/// update of firmware, kernel or boot loader, and need no TPM, which virtual machines and containers lack. Root can
/// decrypt them from the whole disk; the state's files alone, such as a backup, do not suffice.
struct CredentialStore {
  static let folder = "/etc/credstore.encrypted"
  /// The credential that the units load, and the one that will replace it.
  static let current = "sdkd.key"
  static let next = "sdkd.key.next"

  /// The tenant, whose keys are separate; `nil` for the system's daemon.
  let tenant: String?

  /// The directory of the state that the keys are for.
  var state: String { tenant.map { "/var/lib/sdkd-tenants/\($0)" } ?? "/var/lib/sdkd" }

  /// Returns the path of a credential's file.
  func file(_ name: String) -> String {
    Self.folder + "/" + (tenant.map { name.replacing("sdkd", with: "sdkd@\($0)", maxReplacements: 1) } ?? name)
  }

  func has(_ name: String) -> Bool { access(file(name), F_OK) == 0 }

  /// Throws unless the user is root: only root may write credentials, and only root's files are loaded.
  static func checkRoot() throws {
    guard geteuid() == 0 else {
      throw CommandFailure(
        message: "The keys of the system's daemon are root's; run this as root.", reason: "notPermitted", status: 4)
    }
  }

  /// Encrypts a key into its file, atomically.
  func write(_ key: RecoveryKey, as name: String) throws {
    mkdir(Self.folder, 0o700)
    let temporary = file(name) + ".new"
    unlink(temporary)
    let ended = try ChildProgram(
      "systemd-creds", ["encrypt", "--with-key=host", "--name=\(name)", "-", temporary], input: key.bytes)
    guard ended.status == 0 else {
      unlink(temporary)
      throw Self.failure("systemd-creds can't encrypt the key", ended)
    }
    chmod(temporary, 0o600)
    guard Self.synchronize(temporary), rename(temporary, file(name)) == 0, Self.synchronize(Self.folder) else {
      throw CommandFailure(
        message: "\(file(name)) can't be written: \(SystemCallError.text(of: errno)).", reason: "output", status: 1)
    }
  }

  /// Returns a decrypted key.
  func read(_ name: String, until deadline: ContinuousClock.Instant? = nil) throws -> RecoveryKey {
    let ended = try ChildProgram("systemd-creds", ["decrypt", "--name=\(name)", file(name), "-"], until: deadline)
    guard ended.status == 0, let key = RecoveryKey(bytes: ended.output) else {
      throw Self.failure("\(file(name)) can't be decrypted", ended)
    }
    return key
  }

  func remove(_ name: String) throws {
    guard unlink(file(name)) == 0, Self.synchronize(Self.folder) else {
      throw CommandFailure(
        message: "\(file(name)) can't be removed: \(SystemCallError.text(of: errno)).", reason: "output", status: 1)
    }
  }

  private static func failure(_ what: String, _ ended: ChildProgram) -> CommandFailure {
    CommandFailure(
      message: ended.complaint.isEmpty ? "\(what)." : "\(what): \(ended.complaint)", reason: "credential", status: 1)
  }

  private static func synchronize(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return fsync(descriptor) == 0
  }
}
