/// A question to systemd about a daemon's units. systemd is asked while the daemon is, so that neither waits for the other.
struct UnitQuestion {
  /// The units, and what is said when they are not known.
  struct Answer {
    var check: UnitCheck?
    var findings: [Finding] = []
    /// The command that starts what is stopped; `nil` if the units run.
    var cure: String? { check?.cure }
  }

  let place: DaemonPlace
  private let question: ChildProcess?

  /// Asks systemd. Does nothing for a daemon without units.
  init(_ place: DaemonPlace) {
    let manager = place.mode == .user ? ["--user"] : []
    self.place = place
    question = place.unit.flatMap {
      try? ChildProcess(
        ["systemctl"] + manager + [
          "show", "\($0).service", "\($0).socket",
          "--property=ActiveState,SubState,Result,NRestarts,ExecMainStatus,StatusText,LoadState,UnitFileState,LimitNOFILESoft",
        ])
    }
  }

  /// Returns the answer. It has no units where systemd does not run.
  func answer(until deadline: ContinuousClock.Instant) -> Answer {
    guard let question else { return Answer() }
    let ended: ChildProcess.Ended
    do {
      ended = try question.end(until: deadline)
    } catch {
      return Answer(findings: [
        Finding(
          .warning, "unit", "systemd did not say how the daemon's units are: \(error.description).",
          advice: place.systemctl("status", "service", byHand: ""))
      ])
    }
    let check = ended.status == 0 ? UnitCheck(place: place, answer: ended.output) : nil
    return Answer(check: check, findings: check?.findings ?? [])
  }
}
