/// The colours of states.
enum StateStyle {
  /// Of an instance's state.
  static func instance(_ state: String) -> Table.Style {
    switch state {
    case "authenticated", "anonymous": .good
    case "authenticating", "refreshing": .doubtful
    case "reauthNeeded", "locked", "quarantined": .bad
    default: .plain
    }
  }

  /// Of a health check.
  static func health(_ status: String) -> Table.Style {
    switch status {
    case "ok": .good
    case "degraded": .doubtful
    default: .bad
    }
  }
}
