import JSONRPC

/// Something that `sdkctl doctor` has looked at.
struct Finding: Hashable {
  /// How it is.
  enum Status: String, CaseIterable {
    case ok, warning, failing
    /// It could not be looked at; the message says why.
    case skipped
  }

  /// How it is.
  var status: Status
  /// What was looked at, one word.
  var check: String
  /// What is the case, one sentence.
  var message: String
  /// What to do next; a command where there is one.
  var advice: String?

  /// A finding.
  init(_ status: Status, _ check: String, _ message: String, advice: String? = nil) {
    self.status = status
    self.check = check
    self.message = message
    self.advice = advice
  }

  /// The finding for programs.
  var json: JSON {
    var object: JSONObject = [
      "status": .string(status.rawValue), "check": .string(check), "message": .string(message),
    ]
    object["advice"] = advice.map(JSON.string)
    return .object(object)
  }

  /// Findings for people.
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
