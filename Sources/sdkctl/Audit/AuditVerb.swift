import ArgumentParser
import Glibc
import JSONRPC
import SDKProtocol

/// `sdkctl audit [ID]`: shows who did what.
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
    try journal.checkPlace(global)
    let start = journal.start
    var printing = AuditPrinting(id: id, since: start, context: context)
    if let file = journal.file {
      try journal.readFile(file) { line in if let entry = AuditEntry(line: line) { try printing.add(entry) } }
    } else {
      printing.skipped = try journal.readJournal(arguments(since: start), isOwn: global.user) { object in
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
