import ArgumentParser
import Glibc
import JSONRPC
import SDKClient
import SDKProtocol

/// `sdkctl events [ID]`: shows past events, or with `--follow` new ones.
struct EventsVerb: PlainVerb {
  static let configuration = CommandConfiguration(
    verb: "events", abstract: "Show events.",
    discussion: """
      Without --follow those of the past that are still kept. With --follow those to come, or all since --since; \
      it goes on over restarts of the daemon and ends with Ctrl-C. -o jsonl shows each event's cursor.
      """,
    examples: [
      "sdkctl events desk",
      "sdkctl events --follow --type userLoggedIn",
      "sdkctl events --follow -o jsonl --since 8f3a41c2",
    ])

  @Argument(help: ArgumentHelp("Only of this instance.", valueName: "instance"))
  var id: InstanceID?

  @Flag(name: .shortAndLong, help: "Wait for new events and print them as they come.")
  var follow = false

  @Option(help: ArgumentHelp("Only what came after this cursor.", valueName: "cursor"))
  var since: String?

  @Option(name: .customLong("type"), help: ArgumentHelp("Only of this type.", valueName: "type"))
  var types: [EventType] = []

  @OptionGroup(title: "Global options") var global: GlobalOptions

  init() {}

  init?(plain line: inout PlainLine) {
    follow = line.flag("--follow") || line.flag("-f")
    since = line.value("--since")
    types = line.values("--type")
    global = GlobalOptions(plain: &line)
    id = line.argument()
  }

  func run(in context: CommandContext) async throws {
    try await follow ? self.follow(context) : list(context)
  }

  private func list(_ context: CommandContext) async throws {
    var params = EventsList.Params(
      instances: id.map { [$0] }, types: types.isEmpty ? nil : types, since: since, limit: 200)
    var all: [JSON] = []
    while true {
      let page = try await context.ask(EventsList.self, params)
      let events = page["events"]?.arrayValue ?? []
      // A JSON array is printed when it is complete, lines page by page.
      if context.presenter.isArray {
        all += events
      } else {
        for event in events { try print(event, context) }
      }
      guard let next = page["next"]?.stringValue, next != params.since else { break }
      params.since = next
    }
    if context.presenter.isArray { try context.presenter.indented(.array(all)) }
  }

  private func follow(_ context: CommandContext) async throws {
    // Every line is written at once, so no cleanup is needed.
    signal(SIGINT) { _ in _exit(0) }
    TimeLimit.arm(context)
    let filter = EventFilter(instances: id.map { [$0] }, types: types.isEmpty ? nil : types)
    for try await item in context.client.events(filter, since: since) {
      switch item {
      case .event(let event): try print(try JSONValueEncoder.encode(event), context)
      case .unknown(let event): try print(event, context)
      case .gap(let from, let resume):
        let place = from.map { " after \($0)" } ?? ""
        try context.errors.line("sdkctl: events were missed\(place); going on from \(resume)")
      }
    }
  }

  private func print(_ event: JSON, _ context: CommandContext) throws {
    guard context.presenter.isForPeople else { return try context.presenter.line(event) }
    try context.output.wrapped(line: EventLine.text(of: event))
  }
}

/// An event on one line.
enum EventLine {
  private static let longest = 160

  /// Returns time, instance, type, and as much of the data as fits.
  static func text(of event: JSON) -> String {
    func word(_ name: String) -> String { event[name].map(MemberTable.word) ?? "-" }
    let service = event["service"]?.stringValue.map { "/\($0)" } ?? ""
    let data = short(event["data"]?.objectValue ?? [:])
    return "\(word("time"))  \(word("instance"))\(service)  \(word("type"))" + (data.isEmpty ? "" : "  \(data)")
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
