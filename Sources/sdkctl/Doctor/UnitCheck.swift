/// The check of the daemon's unit in systemd: whether it runs, restarts repeatedly, or has failed.
struct UnitCheck {
  /// The properties of a unit, as `systemctl show` prints them.
  struct State: Hashable {
    var active = ""
    var sub = ""
    var result = ""
    var restarts = 0

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

  let place: DaemonPlace
  let service: State
  let socket: State

  /// Returns the findings for a daemon that has units; none without units, or when systemd does not respond in time.
  static func findings(of place: DaemonPlace, until deadline: ContinuousClock.Instant) -> [Finding] {
    guard let unit = place.unit, let service = show("\(unit).service", place, deadline),
      let socket = show("\(unit).socket", place, deadline)
    else { return [] }
    return UnitCheck(place: place, service: service, socket: socket).finding.map { [$0] } ?? []
  }

  private static func show(
    _ unit: String, _ place: DaemonPlace, _ deadline: ContinuousClock.Instant
  ) -> State? {
    let manager = place.mode == .user ? ["--user"] : []
    let words =
      ["systemctl"] + manager + ["show", unit, "--property=ActiveState,SubState,Result,NRestarts"]
    guard let ended = try? ChildProcess.run(words, until: deadline), ended.status == 0 else { return nil }
    return State(ended.output)
  }

  /// The finding; `nil` for units that were never started.
  var finding: Finding? {
    guard let unit = place.unit else { return nil }
    let (name, journal) = ("\(unit).service", place.mode == .user ? "journalctl --user" : "journalctl")
    switch (service.active, socket.active) {
    case ("failed", _), (_, "failed"):
      // While the start limit lasts, systemd refuses every start, and fails the socket again at the first connection.
      let both = "\(unit).socket \(unit).service"
      let manager = place.mode == .user ? "systemctl --user" : "systemctl"
      let words = service.active == "failed" ? "\(name) is \(service.words)." : "\(unit).socket is \(socket.words)."
      return Finding(
        .failing, "unit", words,
        advice: "read why: \(journal) -u \(name); then \(manager) reset-failed \(both); "
          + "\(manager) start \(both)")
    case ("activating", _):
      return Finding(
        service.restarts == 0 ? .warning : .failing, "unit", "\(name) is \(service.words).",
        advice: "read why: \(journal) -u \(name)")
    case ("active", _): return Finding(.ok, "unit", "\(name) is \(service.words).")
    default: return nil
    }
  }
}
