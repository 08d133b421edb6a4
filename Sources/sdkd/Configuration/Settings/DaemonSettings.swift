import JSONRPC
import Logging
import SDKProtocol
import StateStore

// The short tables of `sdkd.toml`.

/// `[delegate]`.
struct DelegateSettings: SettingValues, Hashable {
  /// The time for which a lost delegate is waited for where no provider is configured.
  var grace = Duration.seconds(30)

  static let table = SettingTable<Self>(
    name: "delegate", summary: "Delegates: connections that are asked for credentials before the providers.",
    settings: [
      .duration(
        "grace", \.grace, 0...600,
        "How long to wait for a delegate that was lost to come back, where no provider is configured.")
    ])
}

/// `[events]`.
struct EventSettings: SettingValues, Hashable {
  /// The maximum age of events, and their maximum number for each instance.
  var retention = EventRetention()

  static let table = SettingTable<Self>(
    name: "events", summary: "The record of what happened.",
    settings: [
      .setting(
        "retention", schema, isMerged: true, default: sample(EventRetention()),
        "How long events are kept, and how many of each instance."
      ) { reader, path, settings in
        let former = settings.retention
        settings.retention = EventRetention(
          maxAge: reader.duration(at: path.appending(key: "age"), 0...315_360_000).map { $0 / .seconds(1) }
            ?? former.maxAge,
          maxCountPerInstance: reader.integer(at: path.appending(key: "count"), counts) ?? former.maxCountPerInstance)
      }
    ])

  private static let counts = 0...1_000_000

  private static let schema = JSONSchema.object([
    .optional("age", Seconds.jsonSchema, "how long an event is kept"),
    .optional(
      "count", .integer(minimum: counts.lowerBound, maximum: counts.upperBound),
      "how many events of one instance are kept"
    ),
  ])

  private static func sample(_ retention: EventRetention) -> String {
    "{ age = \"\(Seconds.text(of: .seconds(retention.maxAge)))\", count = \(retention.maxCountPerInstance) }"
  }
}

/// `[metrics]`.
struct MetricSettings: SettingValues, Hashable {
  /// The address of the metrics; `nil` serves them through the control socket only.
  var listen: ListenAddress?

  static let table = SettingTable<Self>(
    name: "metrics", summary: "Metrics for Prometheus and others that scrape.",
    settings: [
      .setting(
        "listen", .string(called: "HOST:PORT or the path of a socket"), example: "\"127.0.0.1:9464\"",
        "Where they are served; without this, nowhere but through the control socket."
      ) { reader, path, settings in
        let text = reader.value(String.self, at: path, check: mistake)
        settings.listen = text.flatMap { try? ListenAddress($0) }
      }
    ])

  private static func mistake(_ text: String) -> String? {
    do throws(ListenAddress.Mistake) {
      _ = try ListenAddress(text)
      return nil
    } catch {
      switch error {
      case .malformed: return "This must be HOST:PORT, such as 127.0.0.1:9464, or the absolute path of a socket."
      case .notLoopback:
        return "Metrics are served to this machine only: write 127.0.0.1:PORT, [::1]:PORT or the path of a socket."
      }
    }
  }
}

/// `[shutdown]`.
struct ShutdownSettings: SettingValues, Hashable {
  /// The time that requests in progress get at the end.
  var grace = Duration.seconds(10)

  static let table = SettingTable<Self>(
    name: "shutdown", summary: "The end of the daemon.",
    settings: [
      .duration(
        "grace", \.grace, 0...600, "Time that a stop waits for requests that a vendor must not get twice.")
    ])
}

/// `[backup]`.
struct BackupSettings: SettingValues, Hashable {
  /// The time between two backups; 0 disables them.
  var every = Duration.seconds(86_400)
  /// The number of backups that are kept.
  var keep = 3

  static let table = SettingTable<Self>(
    name: "backup", summary: "Backups of the state.",
    settings: [
      .duration(
        "every", \.every, 60 ... .max, or: true, words: "at least 1m, or 0 for no backups",
        "Time between two backups; 0 makes none."),
      .integer("keep", \.keep, 1...1000, "How many are kept."),
    ])
}

/// `[log]`.
struct LogSettings: SettingValues, Hashable {
  /// The least severe messages that are written.
  var level = Logger.Level.info

  static let table = SettingTable<Self>(
    name: "log", summary: "What goes to the journal.",
    settings: [
      .setting(
        "level", .enumeration(Logger.Level.allCases.map(\.rawValue)), default: "\"\(LogSettings().level.rawValue)\"",
        "The least severe messages that are written: trace, debug, info, notice, warning, error, critical."
      ) { $2.level = $0.json(at: $1)?.stringValue.flatMap(Logger.Level.init(rawValue:)) ?? $2.level }
    ])
}
