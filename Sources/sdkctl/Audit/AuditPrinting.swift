import JSONRPC
import SDKProtocol

/// A printer of audit records in the requested format, as they come.
struct AuditPrinting {
  let id: InstanceID?
  let since: Timestamp?
  let context: CommandContext
  /// The number of lines that could not be read.
  var skipped = 0
  /// The number of records printed.
  private(set) var count = 0
  private var array: [JSON] = []

  init(id: InstanceID?, since: Timestamp?, context: CommandContext) {
    self.id = id
    self.since = since
    self.context = context
  }

  /// Prints a record if it matches the filters.
  mutating func add(_ entry: AuditEntry) throws {
    if let id, entry.fields[.instance] != id.name { return }
    if let since, let time = entry.time, time < since { return }
    count += 1
    if context.presenter.isForPeople { return try context.output.wrapped(line: entry.line) }
    // A JSON array is printed when it is complete, lines one by one.
    if context.presenter.isArray { array.append(entry.json) } else { try context.presenter.line(entry.json) }
  }

  /// Prints the collected JSON array, and on standard error the number of skipped lines.
  func end() throws {
    if context.presenter.isArray { try context.presenter.indented(.array(array)) }
    if skipped > 0 { try context.errors.line("sdkctl: \(skipped) lines could not be read and were left out") }
  }
}
