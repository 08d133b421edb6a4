/// The answer of systemd about a daemon's units.
struct UnitAnswer {
  /// The units; `nil` where systemd does not run, and for a daemon without units.
  var check: UnitCheck?
  /// What is said of the units, or of an answer that did not come.
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
