import Glibc

/// Root keys as encrypted credentials of systemd, where the units of the daemon find them.
///
/// They are bound to the secret of this machine (`--with-key=host`) and not to the state of its boot: an update of
/// firmware, kernel or boot loader locks nobody out, and virtual machines and containers have no TPM. Whoever reads the
/// whole disk as root can decrypt them; whoever has the state's files alone, such as a copy of them, can not.
struct CredentialStore {
  static let folder = "/etc/credstore.encrypted"
  /// The credential that the units load, and the one that takes its place.
  static let current = "sdkd.key"
  static let next = "sdkd.key.next"

  /// A tenant's keys are its own.
  let tenant: String?

  /// The directory of the state that the keys are for.
  var state: String { tenant.map { "/var/lib/sdkd-tenants/\($0)" } ?? "/var/lib/sdkd" }

  /// The file of a credential.
  func file(_ name: String) -> String {
    Self.folder + "/" + (tenant.map { name.replacing("sdkd", with: "sdkd@\($0)", maxReplacements: 1) } ?? name)
  }

  func has(_ name: String) -> Bool { access(file(name), F_OK) == 0 }

  /// Only root may, and only root's files are loaded.
  static func checkRoot() throws {
    guard geteuid() == 0 else {
      throw CommandFailure(
        message: "The keys of the system's daemon are root's; run this as root.", reason: "notPermitted", status: 4)
    }
  }

  /// Encrypts a key into its file, which appears whole or not at all.
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
        message: "\(file(name)) can't be written: \(String(cString: strerror(errno))).", reason: "output", status: 1)
    }
  }

  /// Decrypts a key.
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
        message: "\(file(name)) can't be removed: \(String(cString: strerror(errno))).", reason: "output", status: 1)
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
