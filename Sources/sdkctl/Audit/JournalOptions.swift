import ArgumentParser
import Glibc
import JSONRPC
import Linux
import SDKClient
import SDKProtocol

/// The options of verbs that read what the daemon wrote: from the journal, or from the log of a daemon started by hand.
struct JournalOptions: ParsableArguments {
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

  /// The time that `--since` gives.
  var start: Timestamp? { since.flatMap { Self.moment($0, now: .now) } }

  /// Whether all entries are printed as one array at the end. With `--follow` there is no end.
  func isArray(_ presenter: Presenter) -> Bool { presenter.isArray && !follow }

  /// Reads all lines of the log file, with `--follow` also those to come.
  ///
  /// - Parameters:
  ///   - fromEnd: whether to skip the lines that are in the file now.
  ///   - line: takes a line.
  ///   - atEnd: called each time the end of the file is reached.
  func readFile(
    _ file: String, fromEnd: Bool = false, _ line: (String) throws -> Void, atEnd: () throws -> Void = {}
  ) throws {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure.input("\(file) can't be read: \(SystemCallError.text(of: errno)).")
    }
    defer { close(descriptor) }
    if fromEnd { lseek(descriptor, 0, SEEK_END) }
    var lines = DescriptorLines(descriptor: descriptor, waits: follow)
    while let next = try lines.next(beforeWait: atEnd) { try line(next) }
    try atEnd()
  }

  /// Reads the journal's entries, and returns the number of lines that could not be read.
  ///
  /// - Parameters:
  ///   - words: the arguments of `journalctl`.
  ///   - global: the options that say which daemon is meant.
  ///   - entry: takes an entry, and returns whether it was used.
  /// - Throws: `CommandFailure` when there is no journal, or the user may not read it.
  func readJournal(_ words: [String], _ global: GlobalOptions, _ entry: (JSONObject) throws -> Bool) throws -> Int {
    let journal = try JournalReader(words)
    var lines = DescriptorLines(descriptor: journal.output)
    var (skipped, count) = (0, 0)
    while let line = try lines.next() {
      // "-- No entries --", and lines about boots.
      if line.hasPrefix("-- ") { continue }
      guard let object = (try? JSONParser.parse(line))?.objectValue else {
        skipped += 1
        continue
      }
      if try entry(object) { count += 1 }
    }
    let end = try journal.end()
    // journalctl does not complain if the user has a journal of their own.
    let isBlind = JournalReader.isBlind(end.complaint) || directory == nil && !JournalReader.canReadSystem
    if JournalReader.isMissing(end.complaint) {
      throw CommandFailure(
        message: "This machine has no journal.", reason: "journal", status: 1,
        hints: ["read the daemon's log with --file PATH, or the journal of another place with --directory PATH"])
    }
    guard end.failed || isBlind && !isOwn(global) && count == 0 else { return skipped }
    if isBlind {
      throw CommandFailure(
        message: "The journal of the system can't be read by this user.", reason: "notPermitted", status: 4,
        hints: ["read it as root, or join the group systemd-journal"])
    }
    let first = end.complaint.split(separator: "\n").first.map(String.init) ?? "it says nothing"
    throw CommandFailure(message: "journalctl failed: \(first)", reason: "journal", status: 1)
  }

  /// Checks that the daemon has a unit, whose entries the journal has.
  ///
  /// - Throws: `CommandFailure` for a daemon without a unit, unless options say where its log is.
  func checkPlace(_ global: GlobalOptions) throws {
    guard file == nil, directory == nil, matches.isEmpty else { return }
    let place = try DaemonPlace(global.location)
    guard place.unit == nil else { return }
    throw CommandFailure(
      message: "The daemon at \(place.socket) has no unit: its log is its standard error, and not in the journal.",
      reason: "journal", status: 1,
      hints: ["read its log with --file PATH"]
        + (place.isInContainer ? [] : ["--system is for the daemon of the machine"]))
  }

  /// Whether the user's own daemon is meant, whose journal the user can always read.
  private func isOwn(_ global: GlobalOptions) -> Bool {
    global.user || !global.isNamed && (try? DaemonPlace(global.location))?.mode == .user
  }

  /// Returns the arguments of `journalctl`. They match trusted fields of the journal, because any user can write
  /// entries with the other fields.
  ///
  /// - Parameter fields: further matches.
  func arguments(_ global: GlobalOptions, fields: [String], since start: Timestamp?, lines: Int? = nil) -> [String] {
    var words = ["-o", "json", "--all", "--no-pager"] + fields
    if !matches.isEmpty {
      words += matches.map { "\($0.key)=\($0.text)" }
    } else if let tenant = (try? DaemonPlace(global.location))?.tenant {
      words.append("_SYSTEMD_UNIT=sdkd@\(tenant).service")
    } else if isOwn(global) {
      words += ["_SYSTEMD_USER_UNIT=sdkd.service", "_UID=\(getuid())"]
    } else {
      words.append("_SYSTEMD_UNIT=sdkd.service")
    }
    if let directory { words += ["--directory", directory] }
    if let start { words.append("--since=@\(Int(max(0, start.secondsSince1970.rounded(.down))))") }
    if let lines, start == nil {
      words.append("--lines=\(lines)")
      if follow { words.append("--follow") }
    } else if follow {
      words += start == nil ? ["--follow", "--lines=0"] : ["--follow", "--no-tail"]
    }
    return words
  }
}

/// A running `journalctl`, which prints the journal's entries as JSON, one per line.
struct JournalReader {
  private let process: ChildProcess

  /// Starts `journalctl`.
  ///
  /// - Throws: `CommandFailure` when it can't be started.
  init(_ arguments: [String]) throws {
    do {
      process = try ChildProcess(["journalctl"] + arguments)
    } catch {
      throw CommandFailure(
        message: "journalctl can't be run: \(error.description).", reason: "journal", status: 1,
        hints: ["without a journal, read the daemon's log with --file PATH"])
    }
  }

  /// The descriptor of the standard output of `journalctl`.
  var output: CInt { process.output }

  /// Waits until `journalctl` has ended. Returns whether it failed, and the text of its standard error.
  func end() throws(ChildProcess.Failure) -> (failed: Bool, complaint: String) {
    let ended = try process.end()
    return (ended.status != 0, ended.errors)
  }

  /// Whether this user can read a journal of the system.
  static var canReadSystem: Bool {
    geteuid() == 0
      || ["/var/log", "/run/log"].contains { folder in
        var found = glob_t()
        defer { globfree(&found) }
        guard glob("\(folder)/journal/*/system*.journal", 0, nil, &found) == 0 else { return false }
        return (0..<Int(found.gl_pathc)).contains { found.gl_pathv[$0].map { access($0, R_OK) == 0 } == true }
      }
  }

  /// Whether the standard error of `journalctl` says that there is no journal.
  static func isMissing(_ complaint: String) -> Bool { complaint.contains("No journal files were found") }

  /// Whether the standard error of `journalctl` says that the user may not read the system's journal.
  static func isBlind(_ complaint: String) -> Bool {
    complaint.contains("insufficient permissions") || complaint.contains("not seeing messages")
  }
}
