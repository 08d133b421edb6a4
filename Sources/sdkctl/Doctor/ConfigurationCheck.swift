import Glibc

/// The check of the configuration files, by `sdkd --check`.
struct ConfigurationCheck {
  let place: DaemonPlace
  /// The time at which the check is abandoned.
  let deadline: ContinuousClock.Instant

  var finding: Finding {
    guard let file = place.configuration else {
      return Finding(.skipped, "configuration", "Only an admin is told which files the daemon reads.")
    }
    let ended: ChildProcess.Ended
    do throws(ChildProcess.Failure) {
      ended = try Self.run(file, until: deadline)
    } catch {
      return Finding(.skipped, "configuration", "sdkd --check gave no result: \(error.description).")
    }
    let lines = ended.errors.split(separator: "\n")
    let mistakes = lines.count
    switch ended.status {
    case 0:
      let checked = "\(ended.output.split(separator: "\n").first ?? "No mistakes")."
      return Finding(.ok, "configuration", FileSettings.absence(of: file) ?? checked)
    case 78 where mistakes > 0 && access(file, R_OK) != 0 && errno == EACCES:
      return Finding(
        .skipped, "configuration", "\(file) can't be read by this user.", advice: "run sdkctl doctor as root")
    case 78:
      return Finding(
        .failing, "configuration",
        "The configuration has \(mistakes == 1 ? "1 mistake" : "\(mistakes) mistakes"): \(lines.first ?? "")",
        advice: Self.advice(place))
    default: return Finding(.failing, "configuration", "sdkd --check ended with \(ended.status).")
    }
  }

  /// Returns the commands that list the mistakes, and that apply the corrected configuration.
  static func advice(_ place: DaemonPlace) -> String {
    "\(place.command("config check")); correct what it lists; \(reload(place))"
  }

  /// Returns the command that applies a changed configuration.
  static func reload(_ place: DaemonPlace) -> String {
    place.systemctl("reload", "service", byHand: place.command("reload"))
  }

  /// Runs `sdkd --check` on a configuration file.
  static func run(
    _ file: String, until deadline: ContinuousClock.Instant? = nil
  ) throws(ChildProcess.Failure) -> ChildProcess.Ended {
    try ChildProcess.run([ChildProgram.daemon, "--check", "--config-may-be-absent", "--config", file], until: deadline)
  }
}
