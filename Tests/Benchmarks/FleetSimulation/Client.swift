import DelegateBridge
import Randomness
import SDKInstances
import SDKProtocol

/// A client with one token, which decides when it contacts the vendor next. All times are in simulated seconds.
protocol Client {
  /// Records a new token and schedules its renewal.
  ///
  /// - Returns: the time of its renewal.
  mutating func obtained(at now: Double, lifetime: Double, _ chance: inout SeededGenerator) -> Double
  /// Returns the time of the next check if the client does not contact the vendor at `now`; `nil` if it does.
  mutating func holdsBack(at now: Double, _ chance: inout SeededGenerator) -> Double?
  /// Records a failed request and schedules the next attempt.
  ///
  /// - Returns: the time of the next attempt.
  mutating func failed(at now: Double, _ chance: inout SeededGenerator) -> Double
}

extension Client {
  mutating func holdsBack(at now: Double, _ chance: inout SeededGenerator) -> Double? { nil }
}

/// The daemon, with its own planner and breaker and the default settings of an instance.
struct DaemonClient: Client {
  private static let planner = RefreshPlanner(mode: .eager, margin: 60, jitter: 0.1, minInterval: 5)
  private var breaker = Breaker()
  private var failures = 0
  private var end = 0.0

  init() {}

  mutating func obtained(at now: Double, lifetime: Double, _ chance: inout SeededGenerator) -> Double {
    breaker.succeeded()
    failures = 0
    end = now + lifetime
    let (start, random) = (Timestamp(secondsSince1970: now), chance.part())
    return Self.planner.renewal(obtained: start, expires: start + lifetime, random: random)?.secondsSince1970 ?? end
  }

  mutating func holdsBack(at now: Double, _ chance: inout SeededGenerator) -> Double? {
    guard case .refused = breaker.admit(at: .seconds(now)) else { return nil }
    return next(after: now, &chance)
  }

  mutating func failed(at now: Double, _ chance: inout SeededGenerator) -> Double {
    failures += 1
    _ = breaker.failed(at: .seconds(now), chance: chance.part())
    return next(after: now, &chance)
  }

  private func next(after now: Double, _ chance: inout SeededGenerator) -> Double {
    let isAlive = end > now
    let time = Self.planner.retry(
      after: Timestamp(secondsSince1970: now), failures: failures,
      breaker: breaker.nextAttempt.map { Timestamp(secondsSince1970: $0 / .seconds(1)) },
      end: isAlive ? Timestamp(secondsSince1970: end) : nil, random: chance.part())
    // The client checks in any case when its token expires.
    return isAlive ? min(time.secondsSince1970, end) : time.secondsSince1970
  }
}

/// A client that renews after four fifths of the lifetime and then retries every five seconds.
struct FixedClient: Client {
  mutating func obtained(at now: Double, lifetime: Double, _ chance: inout SeededGenerator) -> Double {
    now + 0.8 * lifetime
  }
  mutating func failed(at now: Double, _ chance: inout SeededGenerator) -> Double { now + 5 }
}

/// A client that renews after four fifths of the lifetime and then doubles its delay from one second to five minutes.
struct ExponentialClient: Client {
  private var pause = 1.0

  init() {}

  mutating func obtained(at now: Double, lifetime: Double, _ chance: inout SeededGenerator) -> Double {
    pause = 1
    return now + 0.8 * lifetime
  }

  mutating func failed(at now: Double, _ chance: inout SeededGenerator) -> Double {
    defer { pause = min(2 * pause, 300) }
    return now + pause
  }
}
