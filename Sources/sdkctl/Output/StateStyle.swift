/// The colours of states.
enum StateStyle {
  /// Returns the style of an instance's state.
  static func instance(_ state: String) -> Table.Style {
    switch state {
    case "authenticated", "anonymous": .good
    case "authenticating", "refreshing": .doubtful
    case "reauthNeeded", "locked", "quarantined": .bad
    default: .plain
    }
  }

  /// Returns the style of a health check's status.
  static func health(_ status: String) -> Table.Style {
    switch status {
    case "ok": .good
    case "degraded": .doubtful
    default: .bad
    }
  }
}
