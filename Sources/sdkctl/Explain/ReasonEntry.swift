import SDKProtocol

/// A reason of an error, as the reference and `sdkctl explain` show it.
struct ReasonEntry: Hashable {
  /// The author of the error.
  enum Source: String, CaseIterable {
    case protocolErrors = "Errors of the protocol"
    case daemon = "Errors of the daemon"
    case client = "Errors of sdkctl and the client libraries"
  }

  /// Whether the same call may succeed later.
  enum Retry: String {
    case yes, no, sometimes
  }

  let name: String
  let source: Source
  /// The codes of errors with this reason; none for those of the client.
  var codes: [Int] = []
  /// The exit statuses of `sdkctl`.
  let statuses: [Int32]
  let retry: Retry
  let cause: String
  let remedy: String

  /// The sentence that an app shows to the person before it.
  var sentence: Sentence { Sentence(reason: name) }

  /// All reasons, by their source and in the order of the protocol.
  static let all = ofProtocol + Reason.allCases.map { ReasonEntry($0) } + ofClient

  private init(_ reason: Reason) {
    let guide = reason.guide
    // The state heals by itself only after some failures.
    let isSometimes = reason == .storeUnavailable
    name = reason.rawValue
    source = .daemon
    codes = guide.origins.map(\.rawValue)
    retry = isSometimes ? .sometimes : reason.isRetryable ? .yes : .no
    let statuses = (isSometimes ? [true, false] : [reason.isRetryable]).flatMap { isRetryable in
      exitStatuses(of: guide.origins, reason, isRetryable)
    }
    self.statuses = statuses.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    cause = guide.cause
    remedy = guide.remedy
  }

  init(
    _ name: String, _ source: Source, codes: [Int] = [], _ statuses: [Int32], retry: Retry = .no, _ cause: String,
    _ remedy: String
  ) {
    self.name = name
    self.source = source
    self.codes = codes
    self.statuses = statuses
    self.retry = retry
    self.cause = cause
    self.remedy = remedy
  }

  init(_ reason: ProtocolReason, _ code: Int, _ status: Int32, _ remedy: String) {
    self.init(reason.rawValue, .protocolErrors, codes: [code], [status], reason.meaning, remedy)
  }
}

private func exitStatuses(of origins: [SDKError.Origin], _ reason: Reason, _ isRetryable: Bool) -> [Int32] {
  origins.map { ExitStatus.status(code: $0.rawValue, reason: reason.rawValue, isRetryable: isRetryable) }
}
