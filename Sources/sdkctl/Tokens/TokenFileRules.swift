import JSONRPC
import SDKProtocol

/// The rules of `sdkctl token --follow`: what happens to the file after each event, answer and alarm. Holds no clock and
/// does no I/O.
///
/// The file is there only while its token is known to live and to be of the present user. After a change of the user it
/// is removed before the next token is requested, and answers to earlier requests are discarded.
struct TokenFileRules {
  /// A change that the daemon reports.
  enum Change {
    /// The subscription to events begins.
    case begun
    /// The user may be another, or events were missed.
    case user
    /// Another event, such as that of a renewal.
    case other
    /// The subscription can't begin, or was lost for good.
    case lost(CommandFailure)
  }

  /// The answer to a request for a token.
  enum Answer {
    /// The contents of the file, and the seconds that the token lives, if they are known.
    case token([UInt8], ttl: Double?)
    case failure(CommandFailure)
  }

  /// An action that is to be taken.
  enum Step: Hashable {
    case ask
    case write([UInt8])
    case remove
    case end(CommandFailure)
  }

  private enum File {
    /// Left by an earlier process, perhaps with the token of a former user.
    case unknown
    case absent
    case present([UInt8], until: Duration?)
  }

  /// The pause after the first failure, and the longest one, in seconds.
  private static let pauses = 1.0...60.0
  /// The longest time before a token's end at which the next one is requested, unless `--min-ttl` is longer.
  private static let longestMargin = 60.0
  /// A time that no process reaches, so that sums of times are finite.
  private static let longestLife = 1e9

  /// The least lifetime of a token in seconds, and whether a shorter one must not be in the file.
  let minTTL: Double
  let isStrict: Bool
  /// The number of times that the user may have changed. An answer to a request before the last time is discarded.
  private(set) var generation = 0
  private var file = File.unknown
  private var isAsking = false
  private var asksAgain = false
  private var failures = 0
  private var nextRequest: Duration?

  init(minTTL: Double, isStrict: Bool) {
    self.minTTL = minTTL
    self.isStrict = isStrict
  }

  /// The time at which `alarm` must be called; `nil` for none.
  var nextAlarm: Duration? {
    var end: Duration?
    if case .present(_, let until) = file { end = until }
    return [end, nextRequest].compactMap(\.self).min()
  }

  mutating func take(_ change: Change) -> [Step] {
    switch change {
    case .begun, .other: return ask()
    case .user:
      generation += 1
      return remove() + ask()
    case .lost(let failure):
      if Self.isFinal(failure) { return remove() + [.end(failure)] }
      // The file of an earlier process may hold another user's token.
      if case .unknown = file { return remove() }
      return []
    }
  }

  /// Takes the answer to the request that was made when `generation` had this value.
  ///
  /// - Parameter random: from 0 to 1; varies the pause after a failure, so that many programs do not retry together.
  mutating func take(_ answer: Answer, of generation: Int, at now: Duration, random: Double) -> [Step] {
    isAsking = false
    guard generation == self.generation else { return ask() }
    var steps: [Step]
    switch answer {
    case .token(let bytes, let ttl): steps = take(bytes, ttl: ttl, at: now, random: random)
    case .failure(let failure): steps = take(failure, at: now, random: random)
    }
    if asksAgain { steps += ask() }
    return steps
  }

  mutating func alarm(at now: Duration) -> [Step] {
    var steps: [Step] = []
    if case .present(_, let until?) = file, until <= now { steps += remove() }
    if let nextRequest, nextRequest <= now { steps += ask() }
    return steps
  }

  /// Returns the last steps, when the process ends. The file is removed, because no process would remove it at a logout.
  mutating func end() -> [Step] { remove() }

  // MARK: Parts

  private mutating func ask() -> [Step] {
    asksAgain = isAsking
    guard !isAsking else { return [] }
    isAsking = true
    nextRequest = nil
    return [.ask]
  }

  private mutating func remove() -> [Step] {
    if case .absent = file { return [] }
    file = .absent
    return [.remove]
  }

  private mutating func take(_ bytes: [UInt8], ttl: Double?, at now: Duration, random: Double) -> [Step] {
    let life = ttl.map { min($0, Self.longestLife) }
    let usable = life.map { isStrict ? $0 - minTTL : $0 }
    let margin = max(minTTL, min((life ?? 0) / 10, Self.longestMargin))
    let left = life.map { $0 - margin }
    // A token that is due for renewal already is the best one for now; the daemon would have given a newer one.
    failures = left.map { $0 > 0 } ?? true ? 0 : failures + 1
    nextRequest = left.map { now + .seconds(max($0, pause(random))) }
    guard usable.map({ $0 > 0 }) ?? true else { return remove() }
    var isNew = true
    if case .present(bytes, _) = file { isNew = false }
    file = .present(bytes, until: usable.map { now + .seconds($0) })
    return isNew ? [.write(bytes)] : []
  }

  private mutating func take(_ failure: CommandFailure, at now: Duration, random: Double) -> [Step] {
    if Self.isFinal(failure) { return remove() + [.end(failure)] }
    failures += 1
    let least = failure.rpc?.data["retryAfter"]?.doubleValue ?? 0
    nextRequest = now + .seconds(max(pause(random), min(least, Self.longestLife)))
    // While the daemon or the vendor is away, the token in the file is still good.
    if case .present = file, failure.isPassing { return [] }
    return remove()
  }

  private func pause(_ random: Double) -> Double {
    let whole = Self.pauses.lowerBound * Double(1 << min(max(failures - 1, 0), 10))
    return min(whole, Self.pauses.upperBound) * (0.5 + 0.5 * min(max(random, 0), 1))
  }

  /// Whether no later answer can be another one: the instance, or the right to use it, is gone.
  private static func isFinal(_ failure: CommandFailure) -> Bool { [2, 4, 5].contains(failure.status) }
}

extension CommandFailure {
  /// Whether a later call may succeed, and the failure says nothing about the token that the caller has.
  fileprivate var isPassing: Bool { status == 75 || status == 3 }
}

extension EventType {
  /// Whether the user of the instance may be another after an event of this type.
  var isAboutUser: Bool {
    switch self {
    case .userLoggedOut, .identityWiped, .identityChanged, .fellBackToAnonymous, .anonymousUserCreated, .userMerged,
      .instanceDeleted:
      true
    default: false
    }
  }
}
