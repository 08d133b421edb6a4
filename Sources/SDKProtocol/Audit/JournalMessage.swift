/// What the journal says that has a text of its own in the catalog, besides the audit and the events of instances.
public enum JournalMessage: String, Sendable, CaseIterable {
  /// The daemon serves.
  case ready
  /// The daemon runs and answers every call with an error.
  case degraded
  /// One mistake in the configuration.
  case configurationMistake
  /// Another configuration was put in force.
  case reloaded
  /// A reload was refused; the former configuration stays in force.
  case reloadRefused
  /// A part of the daemon does not answer: no keep-alive is sent.
  case watchdogSilent
  /// The disk of the state does not answer.
  case diskSilent
  /// The disk of the state answers again.
  case diskAnswers

  /// The `MESSAGE_ID` by which the journal and its catalog know it.
  public var id: String {
    switch self {
    case .ready: "6513270e269e4d37b2a74de452e6b438"
    case .degraded: "6018366cf65847a79ed34fe53a096533"
    case .configurationMistake: "4462ebfc5f914ef09cfbac6e7687a66e"
    case .reloaded: "7b89296c6dcb4c5088577eb1924770d3"
    case .reloadRefused: "db5b5fab8f4d4e279da1494c73cf256d"
    case .watchdogSilent: "87751d4ca8504e2c84dcda6a797d76de"
    case .diskSilent: "e8d79f49af6d414c8a6f188a424e617b"
    case .diskAnswers: "c15521b1b3dc450a9daa37e51b591d75"
    }
  }
}
