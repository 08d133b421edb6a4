import Glibc
import Linux

/// The check of the free disk space for the state.
struct DiskCheck {
  private static let enough: UInt64 = 512 << 20
  private static let needed: UInt64 = 64 << 20

  let place: DaemonPlace

  var finding: Finding {
    guard let state = place.state else {
      return Finding(.skipped, "disk", "Only an admin is told where the daemon keeps its state.")
    }
    var system = statvfs()
    guard statvfs(state, &system) == 0 else {
      let error = errno
      let why = SystemCallError.text(of: error)
      return error == EACCES
        ? Finding(.skipped, "disk", "\(state) can't be looked at: \(why).", advice: "run sdkctl doctor as root")
        : Finding(
          .failing, "disk", "\(state) can't be looked at: \(why).",
          advice: place.systemctl("restart", "service", byHand: "start the daemon, which makes it"))
    }
    guard system.f_flag & UInt(ST_RDONLY) == 0 else {
      return Finding(
        .failing, "disk", "The file system of \(state) is mounted read-only.",
        advice: "find out why: dmesg | tail; then: mount -o remount,rw \"$(stat -c %m \(state))\"")
    }
    let free = UInt64(system.f_bavail) * UInt64(system.f_frsize)
    let text = "\(Figure.bytes(Double(free))) are free for \(state)."
    if system.f_files > 0, system.f_favail < 100 {
      return Finding(
        .failing, "disk", "There are no inodes left for \(state).",
        advice: "remove files: du --inodes -x \"$(stat -c %m \(state))\" | sort -n | tail")
    }
    if free >= Self.enough { return Finding(.ok, "disk", text) }
    return Finding(
      free < Self.needed ? .failing : .warning, "disk", text,
      advice: "make room: du -xh --max-depth=3 \"$(stat -c %m \(state))\" | sort -h")
  }
}

/// The check that the machine's clock is synchronized.
enum ClockCheck {
  static func finding(until deadline: ContinuousClock.Instant) -> Finding {
    let words = ["timedatectl", "show", "--property=NTPSynchronized,CanNTP"]
    guard let ended = try? ChildProcess.run(words, until: deadline), ended.status == 0 else {
      return Finding(.skipped, "clock", "timedatectl does not say whether the clock is kept right.")
    }
    let lines = ended.output.split(separator: "\n")
    guard !lines.contains("NTPSynchronized=yes") else { return Finding(.ok, "clock", "The clock is kept right.") }
    return Finding(
      .warning, "clock", "No time service runs. With a wrong clock tokens seem to expire too early or too late.",
      // Without a time service that systemd knows of, set-ntp fails.
      advice: lines.contains("CanNTP=no") ? "apt install systemd-timesyncd" : "timedatectl set-ntp true")
  }
}

/// The check of the key that the state is sealed with.
struct KeyCheck {
  let place: DaemonPlace
  let caller: Caller
  /// The time at which the check is abandoned.
  let deadline: ContinuousClock.Instant

  var finding: Finding {
    guard let state = place.state else {
      return Finding(.skipped, "key", "Only an admin is told where the daemon keeps its state and key.")
    }
    var directory = stat()
    guard caller.uid == 0 || stat(state, &directory) == 0 && directory.st_uid == caller.uid else {
      return Finding(
        .skipped, "key", "Only root and the daemon's user can look at the key.", advice: "run sdkctl doctor as root")
    }
    // Only the units of the machine and of tenants load a credential.
    let restart = place.systemctl("restart", "service", byHand: "")
    let recovery = place.keyRecovery.map { "\($0); then \(restart)" }
    let hasUnit = recovery != nil
    let tenant: String? = if case .tenant(let name) = place.mode { name } else { nil }
    let credentials = CredentialStore(tenant: tenant)
    if hasUnit, credentials.has(CredentialStore.current) { return credential(credentials, tenant) }
    let file = "\(state)/root.key"
    // Whether the file opens the state; nil if that can't be found out.
    let opens = (try? StateKey(of: state, nil, until: deadline)).map { !$0.isSealed || $0.fileOpens }
    var status = stat()
    guard lstat(file, &status) == 0 else {
      guard opens == false else {
        return Finding(.skipped, "key", "There is no \(file), and no credential that this command knows of.")
      }
      return Finding(
        .failing, "key", "The key that the state is sealed with is missing: there is neither \(file) nor a credential.",
        advice: recovery ?? "put \(file) back")
    }
    guard opens != false else {
      return Finding(
        .failing, "key", "\(file) is not the key that the state is sealed with, as after a restore on another machine.",
        advice: recovery ?? "put the root.key back that belongs to the state")
    }
    guard status.st_mode & 0o077 == 0 else {
      return Finding(.failing, "key", "\(file) can be read by others.", advice: "chmod 600 \(file)")
    }
    guard hasUnit else {
      return Finding(
        .ok, "key",
        "The state is sealed with \(file), mode 600, in the same folder: its permissions alone protect both, and a copy of "
          + "the folder can be opened.")
    }
    return Finding(
      .warning, "key", "The key is in the same folder as the data that it encrypts: \(file).",
      advice: place.command("key init") + ", which makes it a credential of the unit")
  }
}

extension KeyCheck {
  /// Checks that a credential opens the state, which its existence does not prove.
  private func credential(_ store: CredentialStore, _ tenant: String?) -> Finding {
    var opened: [(name: String, state: StateKey)] = []
    var problems: [(name: String, message: String)] = []
    for name in [CredentialStore.current, CredentialStore.next] where store.has(name) {
      do {
        opened.append((name, try StateKey(of: store.state, try store.read(name, until: deadline), until: deadline)))
      } catch {
        let message = CommandFailure(error)?.message ?? "\(store.file(name)) can't be tried on the state."
        problems.append((name, message))
      }
    }
    let restart = place.systemctl("restart", "service", byHand: "restart the daemon")
    let key = opened.first { $0.state.isOpen }
    switch (key, problems.first) {
    case (let key?, let problem?) where problem.name == CredentialStore.next:
      return Finding(
        .warning, "key", "The state is sealed under \(store.file(key.name)). \(problem.message)",
        advice: "rm \(store.file(problem.name)); \(restart)")
    case (.some, let problem?):
      return Finding(.warning, "key", problem.message, advice: place.finishRotation)
    case (let key?, nil) where !key.state.isSealed:
      return Finding(.ok, "key", "\(store.file(key.name)) is there for the state that the daemon will make.")
    case (let key?, nil):
      return Finding(
        .ok, "key", "The state is sealed under the credential \(store.file(key.name)).",
        advice: key.name == CredentialStore.next ? place.command("key rotate --finish") : nil)
    case (nil, nil) where opened.contains { $0.state.fileOpens }:
      return Finding(
        .warning, "key",
        "The state is still sealed with root.key and not with \(store.file(CredentialStore.current)).", advice: restart)
    case (nil, let problem):
      return Finding(
        .failing, "key",
        problem?.message ?? "The credential \(store.file(CredentialStore.current)) does not open the state.",
        advice: place.keyRecovery.map { "\($0); then \(restart)" })
    }
  }
}

/// The check that the caller can read the daemon's journal.
struct JournalCheck {
  let place: DaemonPlace
  let caller: Caller
  /// The time at which the check is abandoned.
  let deadline: ContinuousClock.Instant

  var finding: Finding {
    guard let unit = place.unit else {
      return Finding(.skipped, "journal", "The daemon has no unit; its log is its standard error.")
    }
    let journald = try? ChildProcess.run(["systemctl", "is-active", "systemd-journald.service"], until: deadline)
    if journald?.output == "inactive\n" || journald?.output == "failed\n" {
      return Finding(
        .failing, "journal", "systemd-journald does not run, so that logs and audit records are lost.",
        advice: "systemctl start systemd-journald.socket systemd-journald.service")
    }
    let manager = place.mode == .user ? ["--user"] : []
    let words = ["journalctl"] + manager + ["--no-pager", "-n", "1", "-o", "cat", "-u", "\(unit).service"]
    let ended: ChildProcess.Ended
    do throws(ChildProcess.Failure) {
      ended = try ChildProcess.run(words, until: deadline)
    } catch {
      return Finding(.skipped, "journal", "journalctl gave no result: \(error.description).")
    }
    if JournalReader.isBlind(ended.errors) {
      return Finding(
        .warning, "journal", "\(caller.name) can't read the journal of \(unit).service.",
        advice: "usermod -aG systemd-journal \(caller.name), and log in again")
    }
    guard ended.status == 0, !ended.output.isEmpty, !ended.output.hasPrefix("-- No entries") else {
      return Finding(
        .warning, "journal", "The journal has nothing of \(unit).service.",
        advice: place.systemctl("status", "service", byHand: ""))
    }
    return Finding(.ok, "journal", "\(caller.name) can read the journal of \(unit).service.")
  }
}
