import Concurrency
import Dispatch
import Glibc
import JSONRPC
import Linux
import SDKClient
import SDKProtocol

/// The work of `sdkctl token --follow`: follows the events of an instance, and tells the keeper of the file.
struct TokenFollowing: Sendable {
  let client: SDKClient
  let params: TokenGet.Params
  let rules: TokenFileRules
  let text: TokenText
  let path: String
  let hook: TokenHook?
  /// The time after which it ends with status 75; `nil` for none.
  let limit: Duration?

  /// The time limit of a call.
  private static let patience = Duration.seconds(60)

  /// Keeps the file until SIGTERM, SIGINT or SIGHUP, or until the instance is gone.
  ///
  /// - Throws: `CommandFailure` for an end that was not asked for.
  func run() async throws {
    let interruption = Interruption()
    if hook != nil { TokenHook.setEnvironment(instance: params.instance.name, path: path) }
    let keeper = TokenFileKeeper(
      AtomicFile(path), rules: rules, hook: hook, report: { try? Output.standardError.line($0) }, ask: ask)
    let failure = try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await follow(keeper) }
      group.addTask {
        await interruption.wait()
        if !Task.isCancelled { await keeper.stop() }
      }
      if let limit {
        group.addTask {
          guard (try? await Task.sleep(for: limit)) != nil else { return }
          await keeper.stop(
            CommandFailure(message: "The time given with --timeout is over.", reason: "timeout", status: 75))
        }
      }
      defer { group.cancelAll() }
      return try await keeper.ending.value()
    }
    if let failure { throw failure }
  }

  private func ask() async -> TokenFileRules.Answer {
    do {
      let token = try await client.call(
        TokenGet.name, try JSONValueEncoder.encode(params), ordering: TokenGet.ordering, timeout: Self.patience)
      return .token(try text.bytes(of: token), ttl: token["ttl"]?.doubleValue)
    } catch {
      return .failure(Self.failure(error))
    }
  }

  /// Follows the events until the task is cancelled.
  private func follow(_ keeper: TokenFileKeeper) async {
    let schedule = RetrySchedule(first: .milliseconds(100), longest: .seconds(10), limit: nil)
    var (pauses, cursor) = (schedule, String?.none)
    while !Task.isCancelled {
      do {
        let start: String
        if let cursor { start = cursor } else { start = try await currentCursor() }
        cursor = start
        // The token is requested after the subscription's beginning is known, so that no change is missed.
        await keeper.take(.begun)
        for try await item in client.events(EventFilter(instances: [params.instance]), since: start) {
          pauses = schedule
          cursor = Self.cursor(of: item) ?? cursor
          if let change = change(of: item) { await keeper.take(change) }
        }
      } catch {
        guard !Task.isCancelled else { return }
        await keeper.take(.lost(Self.failure(error)))
        try? await Task.sleep(for: pauses.next(random: .random(in: 0...1)) ?? schedule.longest)
      }
    }
  }

  /// Returns the cursor from which nothing is missed that happens after this call.
  private func currentCursor() async throws -> String {
    let result = try await client.call(
      EventsSubscribe.self, .init(instances: [params.instance]), timeout: Self.patience)
    // A connection of its own: the subscription ends with it.
    client.close()
    return result.cursor
  }

  private static func cursor(of item: SubscriptionItem) -> String? {
    switch item {
    case .event(let event): event.cursor
    case .unknown(let event): event["cursor"]?.stringValue
    case .gap(_, let resume): resume
    }
  }

  /// Returns the change that an event means for the file; `nil` for one of another service.
  private func change(of item: SubscriptionItem) -> TokenFileRules.Change? {
    switch item {
    case .event(let event):
      guard event.service == nil || params.service == nil || event.service == params.service else { return nil }
      return event.type.isAboutUser ? .user : .other
    case .unknown: return .other
    case .gap: return .user
    }
  }

  private static func failure(_ error: any Error) -> CommandFailure {
    CommandFailure(error) ?? CommandFailure(message: "\(error)", reason: "systemError", status: 1)
  }
}

/// An end that the service manager or the user asks for, by SIGTERM, SIGINT or SIGHUP.
private final class Interruption: Sendable {
  private let signals: AsyncStream<Void>

  /// Starts to intercept the signals, which no longer end the process by themselves.
  init() {
    let (signals, arrival) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.signals = signals
    for number in [SIGTERM, SIGINT, SIGHUP] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      // The source stays active until the process ends.
      source.setEventHandler {
        _ = source
        arrival.yield()
      }
      source.resume()
    }
  }

  /// Waits for the first of the signals. Returns at once if one has arrived before the call.
  func wait() async {
    for await _ in signals { return }
  }
}
