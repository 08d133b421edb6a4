import ArgumentParser
import Glibc
import JSONRPC
import SDKProtocol

/// `sdkctl logs [ID]`: shows the daemon's log, or what of it is about one instance.
struct LogsVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "logs", abstract: "Show the log of the daemon, or what it says about an instance.",
    discussion: """
      Reads the journal by journalctl, or with --file the log of a daemon that was started by hand. Reading the journal \
      of the system takes root or the group systemd-journal. sdkctl audit shows who did what.
      """,
    examples: [
      "sdkctl logs desk", "sdkctl logs desk --since 2h", "sdkctl logs --follow",
      "sdkctl logs --file sdkd.log --lines 20",
    ])

  @Argument(help: ArgumentHelp("Only about this instance.", valueName: "instance"))
  var id: InstanceID?

  @Option(
    name: [.customShort("n"), .long],
    help: ArgumentHelp("How many of the last lines, unless --since is given.", valueName: "number")
  )
  var lines = 100

  @OptionGroup var journal: JournalOptions

  @OptionGroup(title: "Global options") var global: GlobalOptions

  var isLocal: Bool { true }

  func validate() throws {
    guard (0...1_000_000).contains(lines) else { throw ValidationError("--lines takes a number from 0 to 1000000.") }
  }

  func run(in context: CommandContext) async throws {
    // Every line is written at once, so no cleanup is needed.
    if journal.follow { signal(SIGINT) { _ in _exit(0) } }
    TimeLimit.arm(context)
    try journal.checkPlace(global)
    let start = journal.start
    let isArray = journal.isArray(context.presenter)
    var kept: [LogEntry] = []
    func show(_ entry: LogEntry) throws {
      if isArray { kept.append(entry) } else { try Self.print(entry, context) }
    }
    if let file = journal.file {
      var last: [LogEntry] = []
      // Without --since, of the lines that are in the file now only the last ones are shown.
      var showsAll = start != nil
      try journal.readFile(file) { line in
        guard let entry = LogEntry(line: line), id == nil || entry.instance == id?.name else { return }
        if let start, let time = entry.time, time < start { return }
        if showsAll { return try show(entry) }
        last.append(entry)
        // Halved now and then: removing the first of many each time would take long.
        if last.count >= 2 * lines + 1000 { last.removeFirst(last.count - lines) }
      } atEnd: {
        for entry in last.suffix(lines) { try show(entry) }
        last = []
        showsAll = true
      }
    } else {
      let fields = id.map { ["\(AuditField.instance.journalName)=\($0)"] } ?? []
      let words = journal.arguments(global, fields: fields, since: start, lines: lines)
      let skipped = try journal.readJournal(words, global) { object in
        try show(LogEntry(journal: object))
        return true
      }
      if skipped > 0 { try context.errors.line("sdkctl: \(skipped) lines could not be read and were left out") }
    }
    if isArray { try context.presenter.indented(.array(kept.map(\.json))) }
  }

  private static func print(_ entry: LogEntry, _ context: CommandContext) throws {
    guard context.presenter.isForPeople else { return try context.presenter.line(entry.json) }
    try context.output.line(entry.text(time: context.output.text(of:)))
  }
}
