import JSONRPC

/// The result of a check of `sdkctl doctor`.
struct Finding: Hashable {
  /// The outcome of the check.
  enum Status: String, CaseIterable {
    case ok, warning, failing
    /// The check could not be made; the message says why.
    case skipped
  }

  /// The outcome of the check.
  var status: Status
  /// The name of the check, one word.
  var check: String
  /// The result, one sentence.
  var message: String
  /// The next step, as a command where there is one.
  var advice: String?

  /// Creates a finding.
  init(_ status: Status, _ check: String, _ message: String, advice: String? = nil) {
    self.status = status
    self.check = check
    self.message = message
    self.advice = advice
  }

  /// The finding as JSON.
  var json: JSON {
    var object: JSONObject = [
      "status": .string(status.rawValue), "check": .string(check), "message": .string(message),
    ]
    object["advice"] = advice.map(JSON.string)
    return .object(object)
  }

  /// Returns the finding with its texts passed through a filter.
  func mapped(_ filter: (String) -> String) -> Finding {
    Finding(status, check, filter(message), advice: advice.map(filter))
  }

  /// Returns a table of findings for people.
  static func table(_ findings: [Finding]) -> Table {
    let rows = findings.flatMap { finding -> [[Table.Cell]] in
      let style: Table.Style =
        switch finding.status {
        case .ok: .good
        case .warning: .doubtful
        case .failing: .bad
        case .skipped: .plain
        }
      let said: [Table.Cell] = [
        .init(finding.status.rawValue, style), .init(finding.check, .bold), .init(finding.message),
      ]
      guard let advice = finding.advice else { return [said] }
      return [said, ["", "", .init("→ \(advice)")]]
    }
    return Table(header: [], rows: rows)
  }
}
