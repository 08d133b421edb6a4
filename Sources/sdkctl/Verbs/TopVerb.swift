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
      On a terminal q or Ctrl-C ends it. --timeout is for one look, 5 s unless given. Takes admin, as the metrics do.
      """,
    examples: [
      "sdkctl top",
      "sdkctl top --once -o json",
    ])

  @Option(help: ArgumentHelp("Seconds between two looks, at least 0.1.", valueName: "seconds"))
  var interval = 1.0

  @Flag(help: "Show one frame, of one interval, and end.")
  var once = false

  @OptionGroup(title: "Global options") var global: GlobalOptions

  /// The default time limit of a reading. A daemon that exceeds it is reported on the screen.
  private static let patience = Duration.seconds(5)

  func validate() throws {
    guard interval >= 0.1, interval <= 3600 else { throw ValidationError("Give an interval from 0.1 to 3600 seconds.") }
  }

  func run(in context: CommandContext) async throws {
    var earlier = try await Self.look(context)
    let isScreen = context.output.isTerminal && context.presenter.isForPeople && !once
    let screen = isScreen ? try TopScreen(context.output) : nil
    try screen?.show("Counting for \(Figure.number(interval)) s …")
    while true {
      let end = earlier.time + .seconds(interval)
      if let screen {
        guard screen.wait(until: end) else { return }
      } else {
        try await Task.sleep(until: end, clock: .continuous)
      }
      let now: Look
      do {
        now = try await Self.look(context)
      } catch let error as SDKClientError where screen != nil && error.mayPass {
        try screen?.show("\(error.description)\nTrying again; q ends.")
        earlier.time = .now
        continue
      }
      let frame = TopFrame(
        now.reading, since: earlier.reading, seconds: earlier.time.duration(to: now.time) / .seconds(1))
      if let screen {
        try screen.show(frame.text(at: .now, hasColour: context.output.hasColour))
      } else {
        try show(frame, context)
      }
      if once { return }
      earlier = now
    }
  }

  private func show(_ frame: TopFrame, _ context: CommandContext) throws {
    guard context.presenter.isForPeople else {
      return once ? try context.presenter.show(frame.json) : try context.presenter.line(frame.json)
    }
    try context.output.text(frame.text(at: .now, hasColour: context.output.hasColour) + (once ? "" : "\n"))
  }

  private struct Look {
    var reading: MetricsReading
    var time: ContinuousClock.Instant
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
  /// Whether the daemon may just be restarting.
  fileprivate var mayPass: Bool {
    switch self {
    case .noDaemon, .closed, .timeout: true
    default: false
    }
  }
}
