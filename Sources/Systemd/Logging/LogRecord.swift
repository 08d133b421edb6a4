import Glibc
public import Logging

/// The values of one log call, captured when it was made and bounded in length.
public struct LogRecord: Sendable {
  /// The metadata key whose value is the identifier of a catalogued event.
  public static let messageIDKey = "messageID"

  /// The metadata key that marks audit records. A line has the metadata, sorted by key, before the message. No message
  /// text can therefore imitate this mark at the start of a line.
  static let auditKey = "audit"
  static let maximumMessageLength = 16 << 10
  static let maximumValueLength = 4 << 10
  static let maximumMetadataLength = 32 << 10
  static let maximumMetadataCount = 40

  /// The time of the call: seconds and nanoseconds since 1970.
  public let time: (seconds: Int64, nanoseconds: Int64)
  /// The log level.
  public let level: Logger.Level
  /// The name of the logger.
  public let label: String
  /// The message.
  public let message: String
  /// The metadata, flattened and sorted by key. An inner dictionary's key follows the outer key and a dot.
  public let metadata: [(key: String, value: String)]
  /// The `#fileID` of the call.
  public let file: String
  /// The function that made the call.
  public let function: String
  /// The line of the call.
  public let line: UInt
  /// Whether the record belongs to the audit, which has its own bound in the queue and ignores the log level.
  public let isAudit: Bool

  /// Creates a record of an event with the merged metadata. Texts that are too long are cut and end with an ellipsis.
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

  /// Creates a record of the audit, with the priority of a notice. No log level suppresses it.
  ///
  /// - Parameters:
  ///   - messageID: the identifier of its kind in the catalog.
  ///   - metadata: the details; `audit` is added.
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

  /// The approximate size in memory, in bytes.
  var byteCount: Int {
    metadata.reduce(256 + message.utf8.count + label.utf8.count) {
      $0 + $1.key.utf8.count + $1.value.utf8.count + 64
    }
  }
}

extension String {
  /// Returns the text cut to `limit` bytes of UTF-8, including the ellipsis at the cut. No character is cut in two.
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

/// The conversion of metadata of any depth and size into a short sorted list of texts.
enum MetadataFlattening {
  private static let maximumDepth = 4
  private static let maximumKeyLength = 128

  static func flatten(_ metadata: Logger.Metadata) -> [(key: String, value: String)] {
    guard !metadata.isEmpty else { return [] }
    var pairs: [(key: String, value: String)] = []
    collect(metadata, path: "", depth: 0, into: &pairs)
    var room = LogRecord.maximumMetadataLength
    return pairs.prefix { pair in
      room -= pair.key.utf8.count + pair.value.utf8.count
      return room >= 0
    }
  }

  private static func collect(
    _ metadata: Logger.Metadata, path: String, depth: Int, into pairs: inout [(key: String, value: String)]
  ) {
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      guard pairs.count < LogRecord.maximumMetadataCount else { return }
      let name = (path.isEmpty ? key : "\(path).\(key)").cut(at: maximumKeyLength)
      if case .dictionary(let inner) = value, depth < maximumDepth {
        collect(inner, path: name, depth: depth + 1, into: &pairs)
      } else {
        pairs.append((name, value.description.cut(at: LogRecord.maximumValueLength)))
      }
    }
  }
}
