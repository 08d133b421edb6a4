import ArgumentParser
import JSONRPC
import OpenMetrics
import SDKClient
import SDKProtocol

/// `sdkctl top`: shows the daemon's activity, refreshed at each interval.
struct TopVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "top", abstract: "Watch calls, providers, instances and the store live.",
    discussion: """
      Shows a row for each instance and each method; … stands for what the terminal has no room for. On a terminal q or \
      Ctrl-C ends it, s changes the order of the instances, v the tables that are shown. --timeout is for one reading, \
      5 s unless given. Takes admin, as the metrics do.
      """,
    examples: [
      "sdkctl top",
      "sdkctl top --sort expiry --interval 5",
      "sdkctl top --once -o json",
    ])

  @Option(help: ArgumentHelp("Seconds between two readings, at least 0.1.", valueName: "seconds"))
  var interval = 1.0

  @Option(help: ArgumentHelp("The order of the instances.", valueName: "order"))
  var sort = TopPage.Sort.attention

  @Flag(help: "Show one frame, of one interval, and end.")
  var once = false

  @OptionGroup(title: "Global options") var global: GlobalOptions

  /// The default time limit of a reading. A daemon that exceeds it is reported on the screen.
  private static let patience = Duration.seconds(5)

  func validate() throws {
    guard interval >= 0.1, interval <= 3600 else { throw ValidationError("Give an interval from 0.1 to 3600 seconds.") }
  }

  /// The most instances that are read for a frame.
  private static let mostInstances = 500

  func run(in context: CommandContext) async throws {
    var earlier = try await Self.look(context)
    let isScreen = context.output.isTerminal && context.presenter.isForPeople && !once
    let screen = isScreen ? try TopScreen(context.output) : nil
    try screen?.show("Counting for \(Figure.number(interval)) s …")
    var (sort, view) = (self.sort, TopPage.View.all)
    var page: TopPage?
    func draw() throws {
      guard let screen, var shown = page else { return }
      (shown.sort, shown.view) = (sort, view)
      try screen.show(shown.text(at: .now, hasColour: context.output.hasColour, rows: screen.size.rows))
    }
    while true {
      let end = earlier.time + .seconds(interval)
      waiting: while let screen {
        switch screen.wait(until: end) {
        case .time: break waiting
        case .quit: return
        case .key(UInt8(ascii: "s")): sort = sort.next
        case .key(UInt8(ascii: "v")): view = view.next
        case .key: continue
        }
        try draw()
      }
      if screen == nil { try await Task.sleep(until: end, clock: .continuous) }
      let now: Look
      do {
        now = try await Self.look(context)
        let isForPeople = context.presenter.isForPeople
        let (instances, isPartial) = isForPeople ? try await Self.instances(context) : ([], false)
        let frame = TopFrame(
          now.reading, since: earlier.reading, seconds: earlier.time.duration(to: now.time) / .seconds(1))
        page = TopPage(frame: frame, instances: instances, isPartial: isPartial, sort: sort, view: view)
      } catch let error as SDKClientError where screen != nil && error.mayPass {
        try screen?.show("\(error.description)\nTrying again; q ends.")
        earlier.time = .now
        continue
      }
      if screen != nil { try draw() } else if let page { try show(page, context) }
      if once { return }
      earlier = now
    }
  }

  private func show(_ page: TopPage, _ context: CommandContext) throws {
    guard context.presenter.isForPeople else {
      return once ? try context.presenter.show(page.frame.json) : try context.presenter.line(page.frame.json)
    }
    try context.output.text(page.text(at: .now, hasColour: context.output.hasColour) + (once ? "" : "\n"))
  }

  private struct Look {
    var reading: MetricsReading
    var time: ContinuousClock.Instant
  }

  /// Returns the instances, and whether there are more.
  private static func instances(_ context: CommandContext) async throws -> ([JSON], isPartial: Bool) {
    var params = InstanceList.Params()
    var all: [JSON] = []
    while true {
      let page = try await context.limited(to: patience).ask(InstanceList.self, params)
      all += page["instances"]?.arrayValue ?? []
      guard let next = page["next"]?.stringValue.flatMap({ InstanceID($0) }), next != params.after else {
        return (all, false)
      }
      guard all.count < mostInstances else { return (all, true) }
      params.after = next
    }
  }

  private static func look(_ context: CommandContext) async throws -> Look {
    let result = try await context.client.call(DaemonMetrics.self, timeout: context.timeout?.duration ?? patience)
    do throws(MetricsReading.SyntaxError) {
      return Look(reading: try MetricsReading(result.text), time: .now)
    } catch {
      throw CommandFailure(
        message: "Line \(error.line) of the metrics can't be read; is the daemon's version another?",
        reason: "badAnswer", status: 1)
    }
  }
}

extension SDKClientError {
  /// Whether the error can be caused by a restart of the daemon, so that another attempt may succeed.
  fileprivate var mayPass: Bool {
    switch self {
    case .noDaemon, .closed, .timeout: true
    default: false
    }
  }
}
