import ArgumentParser
import Glibc
import JSONRPC
import Linux
import SDKClient
import SDKProtocol

/// `sdkctl audit [ID]`: shows who did what.
struct AuditVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "audit", abstract: "Show who did what.",
    discussion: """
      Reads the audit records that the daemon wrote to the journal, by journalctl, or with --file those in the log of a \
      daemon that was started by hand. Reading the journal of the system takes root or the group systemd-journal. With \
      --follow it goes on with what is written, and ends with Ctrl-C.
      """)

  @Argument(help: "Only of this instance.")
  var id: InstanceID?

  @Flag(name: .shortAndLong, help: "Go on with what is written.")
  var follow = false

  @Option(help: ArgumentHelp("Only since then: a time in RFC 3339, or how long ago, such as 2h.", valueName: "time"))
  var since: String?

  @Option(
    help: ArgumentHelp("Read the standard error of a daemon from this file.", valueName: "path"), completion: .file())
  var file: String?

  @Option(help: ArgumentHelp("Read the journal files in this directory.", valueName: "path"), completion: .directory)
  var directory: String?

  @Option(
    name: .customLong("match"),
    help: ArgumentHelp(
      "Only entries with this field, in place of the unit of the daemon: _EXE=/usr/bin/sdkd.", valueName: "field=value")
  )
  var matches: [Assignment] = []

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func validate() throws {
    if file != nil, directory != nil || !matches.isEmpty {
      throw ValidationError("--directory and --match are for the journal; with --file there is none.")
    }
    if let since, Self.moment(since, now: .now) == nil {
      throw ValidationError("--since takes a time in RFC 3339, or how long ago, such as 2h.")
    }
  }

  /// Returns the time that `--since` gives; `nil` if it can't be parsed.
  static func moment(_ text: String, now: Timestamp) -> Timestamp? {
    Timestamp(text) ?? Seconds(text: text).map { now - $0.value }
  }

  func run(in context: CommandContext) async throws {
    // Every line is written at once, so no cleanup is needed.
    if follow { signal(SIGINT) { _ in _exit(0) } }
    let start = since.flatMap { Self.moment($0, now: .now) }
    var printing = AuditPrinting(id: id, since: start, context: context)
    if let file { try read(file, &printing) } else { try readJournal(since: start, &printing) }
    try printing.end()
  }

  private func read(_ file: String, _ printing: inout AuditPrinting) throws {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure.input("\(file) can't be read: \(SystemCallError.text(of: errno)).")
    }
    defer { close(descriptor) }
    if follow, since == nil { lseek(descriptor, 0, SEEK_END) }
    var lines = DescriptorLines(descriptor: descriptor, waits: follow)
    while let line = try lines.next() { if let entry = AuditEntry(line: line) { try printing.add(entry) } }
  }

  private func readJournal(since start: Timestamp?, _ printing: inout AuditPrinting) throws {
    let journal = try JournalReader(arguments(since: start))
    var lines = DescriptorLines(descriptor: journal.output)
    while let line = try lines.next() {
      // "-- No entries --", and lines about boots.
      if line.hasPrefix("-- ") { continue }
      guard let object = (try? JSONParser.parse(line))?.objectValue else {
        printing.skipped += 1
        continue
      }
      if let entry = AuditEntry(journal: object) { try printing.add(entry) }
    }
    let end = try journal.end()
    let isBlind = JournalReader.isBlind(end.complaint)
    guard end.failed || isBlind && !global.user && printing.count == 0 else { return }
    if isBlind {
      throw CommandFailure(
        message: "The journal of the system can't be read by this user.", reason: "notPermitted", status: 4,
        hints: ["read it as root, or join the group systemd-journal"])
    }
    let first = end.complaint.split(separator: "\n").first.map(String.init) ?? "it says nothing"
    throw CommandFailure(message: "journalctl failed: \(first)", reason: "journal", status: 1)
  }

  /// Returns the arguments of `journalctl`. They match trusted fields of the journal, because any user can write
  /// entries with the other fields.
  func arguments(since start: Timestamp?) -> [String] {
    var words = ["-o", "json", "--all", "--no-pager", "\(AuditRecord.journalSign)=1"]
    if let id { words.append("\(AuditField.instance.journalName)=\(id)") }
    if !matches.isEmpty {
      words += matches.map { "\($0.key)=\($0.text)" }
    } else if let tenant = global.tenant {
      words.append("_SYSTEMD_UNIT=sdkd@\(tenant).service")
    } else if global.user {
      words += ["_SYSTEMD_USER_UNIT=sdkd.service", "_UID=\(getuid())"]
    } else {
      words.append("_SYSTEMD_UNIT=sdkd.service")
    }
    if let directory { words += ["--directory", directory] }
    if let start { words.append("--since=@\(Int(max(0, start.secondsSince1970.rounded(.down))))") }
    if follow { words += start == nil ? ["--follow", "--lines=0"] : ["--follow", "--no-tail"] }
    return words
  }
}
