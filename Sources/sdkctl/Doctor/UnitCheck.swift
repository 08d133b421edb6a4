/// The check of the daemon's units in systemd: whether they run, restart repeatedly, have failed, or are stopped, masked
/// or disabled.
struct UnitCheck {
  /// The properties of a unit, as `systemctl show` prints them.
  struct State: Hashable {
    var active = ""
    var sub = ""
    var result = ""
    var restarts = 0
    /// The exit status of the last process.
    var exit = ""
    /// The last status line of the service, which says why the daemon ended.
    var statusText = ""
    /// Whether systemd has a file of the unit, and may load it: `loaded`, `masked` or `not-found`.
    var load = ""
    /// Whether it is started at boot, such as `enabled`.
    var file = ""
    /// The number of descriptors that its processes may have open at their next start; `nil` for no limit.
    var descriptors: Int?

    /// Parses lines such as `ActiveState=failed`.
    init(_ text: String) {
      for line in text.split(separator: "\n") {
        let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { continue }
        switch parts[0] {
        case "ActiveState": active = parts[1]
        case "SubState": sub = parts[1]
        case "Result": result = parts[1]
        case "NRestarts": restarts = Int(parts[1]) ?? 0
        case "StatusText": statusText = parts[1]
        case "ExecMainStatus": exit = parts[1]
        case "LoadState": load = parts[1]
        case "UnitFileState": file = parts[1]
        case "LimitNOFILESoft": descriptors = Int(parts[1])
        default: break
        }
      }
    }

    /// A summary, such as `failed (exit-code), 59 restarts`.
    var words: String {
      let detail = active == "failed" ? result : sub
      return "\(active) (\(detail)), \(restarts == 1 ? "1 restart" : "\(restarts) restarts")"
    }
  }

  /// The exit status of a service whose credentials systemd can't set up.
  private static let credentials = "243"

  let place: DaemonPlace
  let service: State
  let socket: State

  /// Reads the states of a daemon's two units, as `UnitAnswer` gets them. Returns `nil` for other text.
  init?(place: DaemonPlace, answer: String) {
    let lines = answer.split(separator: "\n", omittingEmptySubsequences: false)
    let units = lines.split(whereSeparator: \.isEmpty).map { State($0.joined(separator: "\n")) }
    guard units.count == 2 else { return nil }
    self.init(place: place, service: units[0], socket: units[1])
  }

  init(place: DaemonPlace, service: State, socket: State) {
    (self.place, self.service, self.socket) = (place, service, socket)
  }

  /// The findings; none for units that do not exist.
  var findings: [Finding] { [state, boot].compactMap(\.self) }

  /// The command that starts what is stopped; `nil` if the units run.
  var cure: String? { state.flatMap { $0.status == .failing ? $0.advice : nil } }

  private var unit: String { place.unit ?? "sdkd" }

  private func systemctl(_ words: String) -> String { "systemctl \(place.mode == .user ? "--user " : "")\(words)" }

  private var state: Finding? {
    let (name, journal) = ("\(unit).service", place.mode == .user ? "journalctl --user" : "journalctl")
    let units = [("\(unit).socket", socket), (name, service)]
    let masked = units.filter { $0.1.load == "masked" }.map(\.0)
    let stopped = units.filter { $0.1.active == "inactive" && $0.1.load != "not-found" }.map(\.0)
    let both = "\(unit).socket \(unit).service"
    let reason = service.statusText.isEmpty ? "" : " It said: \(service.statusText)"
    switch (service.active, socket.active) {
    case _ where !masked.isEmpty:
      let (isOne, words) = (masked.count == 1, masked.joined(separator: " "))
      return Finding(
        .failing, "unit",
        "\(masked.joined(separator: " and ")) \(isOne ? "is" : "are") masked: nothing can start \(isOne ? "it" : "them").",
        advice: "\(systemctl("unmask \(words)")); \(systemctl("start \(both)"))")
    case ("failed", _) where service.exit == Self.credentials:
      return Finding(
        .failing, "unit",
        "\(name) can't start: systemd can't load a credential that a drop-in names, because it is missing, can't be "
          + "decrypted, or comes from a socket that does not answer.",
        advice:
          "find it: systemctl cat \(name) | grep LoadCredential; correct it; \(systemctl("reset-failed \(both)")); "
          + systemctl("start \(both)"))
    case ("failed", _), (_, "failed"):
      // While the start limit lasts, systemd refuses every start, and fails the socket again at the first connection.
      let words =
        service.active == "failed" ? "\(name) is \(service.words).\(reason)" : "\(unit).socket is \(socket.words)."
      return Finding(
        .failing, "unit", words,
        advice: "read why: \(journal) -u \(name); then \(systemctl("reset-failed \(both)")); "
          + systemctl("start \(both)"))
    case ("activating", _), ("deactivating", _):
      return Finding(
        service.restarts == 0 ? .warning : .failing, "unit", "\(name) is \(service.words).\(reason)",
        advice: "read why: \(journal) -u \(name)")
    case (_, "inactive") where !stopped.isEmpty:
      return Finding(
        .failing, "unit", "\(stopped.joined(separator: " and ")) \(stopped.count == 1 ? "is" : "are") stopped.",
        advice: systemctl("start \(both)"))
    case ("active", _), ("reloading", _): return Finding(.ok, "unit", "\(name) is \(service.words).")
    case ("inactive", "active"):
      return Finding(
        .warning, "unit", "\(name) is stopped, so that no token is renewed. \(unit).socket starts it at the next call.",
        advice: systemctl("start \(name)"))
    default: return nil
    }
  }

  /// The finding about units that do not start at boot.
  private var boot: Finding? {
    let disabled = [("\(unit).socket", socket), ("\(unit).service", service)].filter { $0.1.file == "disabled" }
    guard !disabled.isEmpty else { return nil }
    let names = disabled.map(\.0)
    return Finding(
      .warning, "boot",
      "\(names.joined(separator: " and ")) \(names.count == 1 ? "is" : "are") disabled: after a boot "
        + (socket.file == "disabled" ? "no client can connect." : "the daemon waits for the first call."),
      advice: systemctl("enable \(names.joined(separator: " "))"))
  }
}

/// The answer of systemd about a daemon's units.
struct UnitAnswer {
  /// The units; `nil` where systemd does not run, and for a daemon without units.
  var check: UnitCheck?
  /// The findings about the units, or about a missing answer.
  var findings: [Finding] = []
  /// The command that starts what is stopped; `nil` if the units run.
  var cure: String? { check?.cure }

  /// Asks systemd. To be called before the daemon is, since a connection starts a unit that is stopped.
  init(_ place: DaemonPlace, until deadline: ContinuousClock.Instant) {
    guard let unit = place.unit else { return }
    let manager = place.mode == .user ? ["--user"] : []
    let words =
      ["systemctl"] + manager + [
        "show", "\(unit).service", "\(unit).socket",
        "--property=ActiveState,SubState,Result,NRestarts,ExecMainStatus,StatusText,LoadState,UnitFileState,LimitNOFILESoft",
      ]
    do throws(ChildProcess.Failure) {
      let ended = try ChildProcess.run(words, until: deadline)
      check = ended.status == 0 ? UnitCheck(place: place, answer: ended.output) : nil
      findings = check?.findings ?? []
    } catch {
      guard error.code == ChildProcess.Failure.late.code else { return }
      findings = [
        Finding(
          .warning, "unit", "systemd did not say how the daemon's units are: \(error.description).",
          advice: place.systemctl("status", "service", byHand: ""))
      ]
    }
  }
}
