import ArgumentParser
import Glibc
import JSONRPC
import SDKProtocol

/// `sdkctl audit [ID]`: shows audit records, which tell what each caller did.
struct AuditVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "audit", abstract: "Show who did what.",
    discussion: """
      Reads the audit records that the daemon wrote to the journal, by journalctl, or with --file those in the log of a \
      daemon that was started by hand. Reading the journal of the system takes root or the group systemd-journal. With \
      --follow it goes on with what is written, and ends with Ctrl-C.
      """,
    examples: [
      "sdkctl audit desk --since 2h",
      "sdkctl audit --follow",
      "sdkctl audit --file /var/log/sdkd.log",
    ])

  @Argument(help: ArgumentHelp("Only of this instance.", valueName: "instance"))
  var id: InstanceID?

  @OptionGroup var journal: JournalOptions

  @OptionGroup(title: "Global options") var global: GlobalOptions

  var isLocal: Bool { true }

  func run(in context: CommandContext) async throws {
    // Every line is written at once, so no cleanup is needed.
    if journal.follow { signal(SIGINT) { _ in _exit(0) } }
    TimeLimit.arm(context)
    try journal.checkPlace(global)
    let start = journal.start
    var printing = AuditPrinting(id: id, since: start, context: context, isArray: journal.isArray(context.presenter))
    if let file = journal.file {
      try journal.readFile(file, fromEnd: journal.follow && start == nil) { line in
        if let entry = AuditEntry(line: line) { try printing.add(entry) }
      }
    } else {
      printing.skipped = try journal.readJournal(arguments(since: start), global) { object in
        guard let entry = AuditEntry(journal: object) else { return false }
        let before = printing.count
        try printing.add(entry)
        return printing.count > before
      }
    }
    try printing.end()
  }

  /// Returns the arguments of `journalctl`.
  func arguments(since start: Timestamp?) -> [String] {
    let fields = ["\(AuditRecord.journalSign)=1"] + (id.map { ["\(AuditField.instance.journalName)=\($0)"] } ?? [])
    return journal.arguments(global, fields: fields, since: start)
  }
}

/// A printer of audit records in the requested format, as they come.
struct AuditPrinting {
  let id: InstanceID?
  let since: Timestamp?
  let context: CommandContext
  /// Whether the records are printed as one array by `end`.
  let isArray: Bool
  /// The number of lines that could not be read.
  var skipped = 0
  /// The number of records printed.
  private(set) var count = 0
  private var array: [JSON] = []
  /// The user names of uids that were looked up.
  private var names: [String: String?] = [:]

  init(id: InstanceID?, since: Timestamp?, context: CommandContext, isArray: Bool) {
    self.id = id
    self.since = since
    self.context = context
    self.isArray = isArray
  }

  /// Prints a record if it matches the filters.
  mutating func add(_ entry: AuditEntry) throws {
    if let id, entry.fields[.instance] != id.name { return }
    if let since, let time = entry.time, time < since { return }
    count += 1
    if context.presenter.isForPeople {
      if count == 1, context.presenter.hasHeaders { try context.output.line(AuditEntry.header) }
      return try context.output.wrapped(line: entry.line(time: context.output.text(of:)) { name(of: $0) })
    }
    // A JSON array is printed when it is complete, lines one by one.
    if isArray { array.append(entry.json) } else { try context.presenter.line(entry.json) }
  }

  private mutating func name(of uid: String) -> String? {
    if let known = names[uid] { return known }
    let name = UInt32(uid).flatMap { getpwuid($0) }.map { String(cString: $0.pointee.pw_name) }
    names[uid] = .some(name)
    return name
  }

  /// Prints the collected JSON array, and on standard error the number of skipped lines.
  func end() throws {
    if isArray { try context.presenter.indented(.array(array)) }
    if skipped > 0 { try context.errors.line("sdkctl: \(skipped) lines could not be read and were left out") }
  }
}
