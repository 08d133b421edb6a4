import ArgumentParser
import Glibc
import JSONRPC
import Linux
import SDKClient
import SDKProtocol

/// `sdkctl events [ID]`: shows past events, or with `--follow` new ones.
struct EventsVerb: PlainVerb {
  static let configuration = CommandConfiguration(
    verb: "events", abstract: "Show events.",
    discussion: """
      Without --follow those of the past that are still kept. With --follow those to come, or all since --since; \
      it goes on over restarts of the daemon and ends with Ctrl-C. -o jsonl shows each event's cursor. With \
      --cursor-file a script sees each event once, also those that came while it did not run: the file's cursor comes \
      before --since.
      """,
    examples: [
      "sdkctl events desk",
      "sdkctl events --since 1h",
      "sdkctl events --follow --type userLoggedIn",
      "sdkctl events --follow -o jsonl --cursor-file /var/lib/desk/cursor",
    ])

  @Argument(help: ArgumentHelp("Only of this instance.", valueName: "instance"))
  var id: InstanceID?

  @Flag(name: .shortAndLong, help: "Wait for new events and print them as they come.")
  var follow = false

  @Option(
    help: ArgumentHelp(
      "Only what came after this cursor, or since then: a time in RFC 3339, or how long ago, such as 2h.",
      valueName: "cursor|time"))
  var since: String?

  @Option(
    help: ArgumentHelp(
      "Begin after the cursor in this file, if it exists, and keep there the cursor of the last event shown.",
      valueName: "path"),
    completion: .file())
  var cursorFile: String?

  @Option(name: .customLong("type"), help: ArgumentHelp("Only of this type.", valueName: "type"))
  var types: [EventType] = []

  @OptionGroup(title: "Global options") var global: GlobalOptions

  init() {}

  init?(plain line: inout PlainLine) {
    follow = line.flag("--follow") || line.flag("-f")
    since = line.value("--since")
    cursorFile = line.value("--cursor-file")
    types = line.values("--type")
    global = GlobalOptions(plain: &line)
    id = line.argument()
  }

  func run(in context: CommandContext) async throws {
    let file = cursorFile.map(CursorFile.init)
    let stored = try file?.cursor()
    let start = stored == nil ? since.flatMap { JournalOptions.moment($0, now: .now) } : nil
    let cursor = stored ?? (start == nil ? since : nil)
    if follow {
      try await self.follow(after: cursor, since: start, file, context)
    } else {
      try await list(after: cursor, since: start, file, context)
    }
  }

  /// Prints past events, and returns the cursor at the end of what was read.
  @discardableResult
  private func list(
    after cursor: String?, since start: Timestamp?, _ file: CursorFile?, _ context: CommandContext
  ) async throws -> String {
    var params = EventsList.Params(
      instances: id.map { [$0] }, types: types.isEmpty ? nil : types, since: cursor, limit: 200)
    // A JSON array is printed when it is complete, lines page by page. With --follow it has no end.
    let isArray = context.presenter.isArray && !follow
    var all: [JSON] = []
    while true {
      let page = try await context.ask(EventsList.self, params)
      if page["gap"]?.boolValue == true { try report(missedAfter: params.since, context) }
      for event in page["events"]?.arrayValue ?? [] {
        if let start, let time = event["time"]?.stringValue.flatMap({ Timestamp($0) }), time < start { continue }
        if isArray { all.append(event) } else { try print(event, context) }
      }
      guard let end = page["cursor"]?.stringValue else {
        throw CommandFailure(message: "The daemon's answer has no cursor.", reason: "badAnswer", status: 1)
      }
      let next = page["next"]?.stringValue
      let isLast = next == nil || next == params.since
      if isLast, isArray { try context.presenter.indented(.array(all)) }
      if isLast || !isArray { try file?.save(end) }
      guard !isLast else { return end }
      params.since = next
    }
  }

  private func follow(
    after cursor: String?, since start: Timestamp?, _ file: CursorFile?, _ context: CommandContext
  ) async throws {
    // Every line is written at once, so no cleanup is needed.
    signal(SIGINT) { _ in _exit(0) }
    TimeLimit.arm(context)
    let instances = id.map { [$0] }
    var cursor = cursor
    if start != nil { cursor = try await list(after: nil, since: start, file, context) }
    if cursor == nil, let file {
      // Stored before the first event, so that none is missed if this ends earlier.
      let current = try await context.currentCursor(instances)
      try file.save(current)
      cursor = current
    }
    let filter = EventFilter(instances: instances, types: types.isEmpty ? nil : types)
    for try await item in context.client.events(filter, since: cursor) {
      switch item {
      case .event(let event):
        try print(try JSONValueEncoder.encode(event), context)
        try file?.save(event.cursor)
      case .unknown(let event):
        try print(event, context)
        if let place = event["cursor"]?.stringValue { try file?.save(place) }
      case .gap(let from, let resume):
        try report(missedAfter: from, context)
        try file?.save(resume)
      }
    }
  }

  private func report(missedAfter cursor: String?, _ context: CommandContext) throws {
    try context.errors.line("sdkctl: \(Self.gap(after: cursor))")
  }

  /// Returns the words for a gap.
  ///
  /// - Parameter cursor: the last cursor before the gap; `nil` if it is of another state than the daemon's.
  static func gap(after cursor: String?) -> String {
    cursor.map { "events were missed after \($0)" }
      ?? "the daemon's state was replaced, as by a restore: events may be missing, and those that follow may have been "
      + "seen before"
  }

  private func print(_ event: JSON, _ context: CommandContext) throws {
    guard context.presenter.isForPeople else { return try context.presenter.line(event) }
    try context.output.wrapped(line: EventLine.text(of: event, time: context.output.text(of:)))
  }
}

/// An event on one line.
enum EventLine {
  private static let longest = 160

  /// Returns time, instance, type, and as much of the data as fits.
  ///
  /// - Parameter time: formats the time.
  static func text(of event: JSON, time: (Timestamp) -> String = \.description) -> String {
    let when = event["time"]?.stringValue.flatMap { Timestamp($0) }.map(time)
    func word(_ name: String) -> String { event[name].map(MemberTable.word) ?? "-" }
    let service = event["service"]?.stringValue.map { "/\($0)" } ?? ""
    let data = short(event["data"]?.objectValue ?? [:])
    return "\(when ?? word("time"))  \(word("instance"))\(service)  \(word("type"))" + (data.isEmpty ? "" : "  \(data)")
  }

  /// Returns `key=value` pairs, without empty lists. A user or another nested object is shown as its `externalId` or `id`.
  private static func short(_ data: JSONObject) -> String {
    let pairs = data.members.filter { $0.value != [] }.map { member -> String in
      let named = ["externalId", "id"].lazy.compactMap { member.value[$0]?.stringValue }.first
      return "\(member.key)=\(named ?? MemberTable.word(member.value))"
    }
    let text = pairs.joined(separator: " ")
    return text.count > longest ? text.prefix(longest) + "…" : text
  }
}

/// The file in which `--cursor-file` keeps the cursor of the last event printed, like that of journalctl(1).
///
/// The cursor is stored after its event was printed: a crash in between repeats the event, and loses none.
struct CursorFile {
  /// The maximum size of the file in bytes. No cursor is longer.
  private static let limit = 4096

  private let file: AtomicFile

  init(_ path: String) { file = AtomicFile(path) }

  /// Returns the stored cursor; `nil` if the file does not exist or is empty.
  ///
  /// - Throws: `CommandFailure` for a file that can't be read.
  func cursor() throws -> String? {
    let bytes: [UInt8]
    do throws(FileProblem) {
      bytes = try BoundedFile(reading: file.path, limit: Self.limit).bytes
    } catch {
      guard error != .system(ENOENT) else { return nil }
      throw CommandFailure.input("\(file.path) \(error).")
    }
    let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count < 2 else { throw CommandFailure.input("\(file.path) holds more than a cursor.") }
    return words.first.map(String.init)
  }

  /// Replaces the stored cursor.
  ///
  /// - Throws: `CommandFailure` for a file that can't be written.
  func save(_ cursor: String) throws {
    do { try file.write(Array("\(cursor)\n".utf8)) } catch {
      throw CommandFailure(message: "The cursor can't be kept: \(error).", reason: "output", status: 1)
    }
  }
}
