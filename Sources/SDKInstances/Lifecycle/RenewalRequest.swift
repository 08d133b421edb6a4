import SDKProtocol

/// When a renewal ahead of time is wanted.
struct RenewalRequest: Sendable, Hashable {
  /// Whose share of the providers it takes.
  var owner: UInt32
  /// When it is to begin at the latest, if nothing is in its way.
  var latest: Timestamp
  /// How early it may begin so that others can be served after it.
  var earliest: Timestamp
  /// When the credential ends; `nil` when it has.
  var end: Timestamp?
  /// A number from 0 to 1: how far a renewal that is late already is put off.
  var random: Double

  /// Whether another request is answered by the same place.
  func isLike(_ other: RenewalRequest) -> Bool {
    owner == other.owner && abs(latest - other.latest) < 1 && abs(earliest - other.earliest) < 1
  }
}

/// The place that a renewal has been given among all others.
struct RenewalPlace: Sendable, Hashable {
  /// What was wanted.
  let request: RenewalRequest
  /// When it begins.
  let start: Timestamp
  /// Whether its time had passed when the place was given: the machine slept, the clock was set, the daemon was down.
  let isCatchingUp: Bool
  /// The cells of the book that it takes, and how much of each.
  let cells: Range<Int>
  let load: Double
  /// The state of the book in which it was given.
  let generation: UInt64
}
