import Glibc
public import Logging

/// One log call: everything about it as plain values of bounded length, taken when it was made.
public struct LogRecord: Sendable {
  /// The metadata key whose value is the identifier of a catalogued event.
  public static let messageIDKey = "messageID"

  /// The metadata key that marks records of the audit. Sorted, it comes first, so that no text of a message can pass for
  /// it.
  static let auditKey = "audit"
  static let maximumMessageLength = 16 << 10
  static let maximumValueLength = 4 << 10
  static let maximumMetadataLength = 32 << 10
  static let maximumMetadataCount = 40

  /// When the call was made: seconds and nanoseconds since 1970.
  public let time: (seconds: Int64, nanoseconds: Int64)
  /// How much it matters.
  public let level: Logger.Level
  /// The name of the logger.
  public let label: String
  /// What was logged.
  public let message: String
  /// Flattened and sorted by key; an inner dictionary's keys follow the outer key and a dot.
  public let metadata: [(key: String, value: String)]
  /// The `#fileID` of the call.
  public let file: String
  /// The function that made the call.
  public let function: String
  /// The line of the call.
  public let line: UInt
  /// Whether it belongs to the audit, which has room of its own in the queue and no level.
  public let isAudit: Bool

  /// Takes an event and the merged metadata. Whatever is too long is cut and ends with an ellipsis.
  public init(event: LogEvent, label: String, metadata: Logger.Metadata) {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    time = (Int64(now.tv_sec), Int64(now.tv_nsec))
    level = event.level
    self.label = label.cut(at: Self.maximumValueLength)
    message = event.message.description.cut(at: Self.maximumMessageLength)
    self.metadata = MetadataFlattening.flatten(metadata)
    file = event.file.cut(at: Self.maximumValueLength)
    function = event.function.cut(at: Self.maximumValueLength)
    line = event.line
    isAudit = false
  }

  /// A record of the audit, always written, with the priority of a notice.
  ///
  /// - Parameters:
  ///   - messageID: the identifier of its kind in the catalog.
  ///   - metadata: what is known; `audit` comes by itself.
  public init(audit message: String, messageID: String, metadata: [String: String]) {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    time = (Int64(now.tv_sec), Int64(now.tv_nsec))
    level = .notice
    label = "sdkd.audit"
    self.message = message.cut(at: Self.maximumMessageLength)
    var all = metadata.mapValues { Logger.MetadataValue.string($0) }
    all[Self.auditKey] = "1"
    all[Self.messageIDKey] = "\(messageID)"
    self.metadata = MetadataFlattening.flatten(all)
    file = #fileID
    function = #function
    line = #line
    isAudit = true
  }

  /// About what it occupies in memory.
  var byteCount: Int {
    metadata.reduce(256 + message.utf8.count + label.utf8.count) {
      $0 + $1.key.utf8.count + $1.value.utf8.count + 64
    }
  }
}

extension String {
  /// At most this many bytes of UTF-8, an ellipsis for the rest included; no character is cut in two.
  func cut(at limit: Int) -> String {
    guard utf8.count > limit else { return self }
    let ellipsis = "…"
    var room = max(0, limit - ellipsis.utf8.count)
    let kept = unicodeScalars.prefix { scalar in
      room -= UTF8.width(scalar)
      return room >= 0
    }
    return String(kept) + ellipsis
  }
}
