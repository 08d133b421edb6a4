import SDKProtocol

@testable import SDKInstances
@testable import StateStore

/// A search through every state of one service that a small world can reach: two users, tokens that end and tokens that
/// don't, one registration, one delivery, commits that succeed or fail, and three lengths of time.
///
/// Two states count as one if they differ only in numbers that decide nothing, such as the exact time.
struct CoreSearch {
  /// The number of different states that were found.
  private(set) var states = 0
  /// The number of moves that were made.
  private(set) var moves = 0
  /// The number of moves that led out of the small world and were not followed.
  private(set) var left = 0
  /// The moves to the first state in which a rule was broken; `nil` if there is none.
  private(set) var finding: (broken: Set<String>, path: [String])?

  /// The work in progress at a time that the search follows.
  private static let maximumWork = 2

  private struct Visit {
    var walk: CoreWalk
    /// The index in `paths` of the move that led here.
    var path: Int
  }

  /// Searches until every state is known, a rule is broken, or `limit` states were found.
  mutating func run(_ start: CoreWalk, limit: Int) async {
    var known: Set<String> = [start.shape]
    var paths: [(from: Int, move: CoreWalk.Move)] = []
    var queue = [Visit(walk: start, path: -1)]
    var next = 0
    states = 1
    while next < queue.count {
      let visit = queue[next]
      // Frees the state; the queue keeps only its place.
      queue[next].walk = start
      next += 1
      if next.isMultiple(of: 5) { await Task.yield() }
      for move in visit.walk.possibleMoves {
        var walk = visit.walk
        walk.make(move)
        moves += 1
        if !walk.rules.broken.isEmpty {
          var path = ["\(move)"]
          var index = visit.path
          while index >= 0 {
            path.append("\(paths[index].move)")
            index = paths[index].from
          }
          finding = (walk.rules.broken, path.reversed())
          return
        }
        guard walk.work.count <= Self.maximumWork, walk.core.deliveries.count <= 1 else {
          left += 1
          continue
        }
        guard known.insert(walk.shape).inserted else { continue }
        states += 1
        if states >= limit { return }
        paths.append((visit.path, move))
        queue.append(Visit(walk: walk, path: paths.count - 1))
      }
    }
  }
}

extension CoreWalk {
  /// The moves that are possible next in the small world.
  fileprivate var possibleMoves: [Move] {
    var kinds: [Move.Kind] = [
      .signOut(isLocal: true), .signOut(isLocal: false), .token(minTTL: 0), .refresh(isResetting: true), .report,
      .createUser, .refuse, .hasten, .wait(1), .wait(61), .wait(4000),
    ]
    for user in ["alice", "bob"] {
      for lifetime in [nil, 600.0] { kinds.append(.signIn(user: user, lifetime: lifetime, isAwaited: true)) }
      kinds.append(.signIn(user: user, lifetime: nil, isAwaited: false))
    }
    kinds.append(core.pushes.isEmpty ? .register(address: 0) : .unregister(0))
    for index in work.indices {
      kinds += [nil, 600].map { .result(of: index, failure: nil, lifetime: $0) }
      kinds += [SampleErrors.refused, SampleErrors.network].map {
        .result(of: index, failure: $0, lifetime: nil)
      }
    }
    return kinds.flatMap { [Move(kind: $0), Move(kind: $0, fails: true)] }
  }

  /// The state without what decides nothing: times as their order, numbers as their relation to present ones.
  fileprivate var shape: String {
    var parts: [String] = []
    for state in core.services {
      let (machine, identity) = (state.machine, state.identity)
      parts += [
        "\(machine.phase) \(machine.standing) \(machine.activity) \(machine.isFailureTold) \(machine.isRenewalRefused)",
        machine.refusal.map { "\($0.reason)" } ?? "-", identity.user.externalId ?? identity.user.id ?? "-",
        shape(identity.credential), "\(identity.isRefused)", identity.kindState.keys.sorted().joined(separator: ","),
        identity.lastError.map { "\($0.reason)" } ?? "-", identity.degraded ?? "-",
        "\(identity.isLoggedOutImplicitly ?? false) \(identity.isSpending ?? false)",
        "\(state.isVerified) \(state.isUntried) \(state.isInterrupted) \(state.storedEpoch == machine.epoch)",
        age(state.outageToldAt), state.provided.map { shape($0.credential) } ?? "-",
      ]
      if let running = state.running {
        parts += [
          running.offered.map { shape($0.credential) } ?? "-", "\(running.offersProvided)",
          running.sameUser.map { "\($0)" } ?? "-", "\(running.operation == nil) \(running.joined.isEmpty)",
        ]
      }
      let recovery = state.recovery
      parts += [
        age(recovery.endedAt), recovery.failure.map { "\($0.reason)" } ?? "-", "\(min(recovery.failures, 1))",
        "\(recovery.wasLogin)", recovery.trigger.map { "\($0)" } ?? "-", age(recovery.probedAt),
      ]
      let connection = state.connection
      parts += [
        "\(connection.isOpen) \(connection.isOpening) \(min(connection.failures, 1)) \(connection.isRefusalFollowedUp)",
        "\(connection.subject == .init(identity)) \(connection.refused == nil)", age(connection.retryAt),
        age(connection.heldUntil),
      ]
    }
    parts += core.pushes.map { "push \($0.orphaned)" }
    parts += core.deliveries.map {
      "delivery \($0.purpose) \(min($0.attempts, 1)) \(age($0.nextAttemptAt)) \(core.delivering.contains($0.id))"
    }
    parts += work.map { work in
      let isPresent = core[work.service]?.machine.epoch == work.epoch
      return "\(work.effect.name) \(isPresent) \(work.identity.user.externalId ?? "-")"
    }
    return parts.joined(separator: "|")
  }

  private func shape(_ credential: Credential?) -> String {
    guard let credential else { return "-" }
    return "\(credential.token.reveal().prefix { $0 != "#" }) \(age(credential.expiresAt))"
  }

  private func age(_ time: Timestamp?) -> String {
    guard let time else { return "-" }
    let seconds = time - context.now
    return seconds < -60 ? "long ago" : seconds <= 0 ? "past" : seconds <= 61 ? "soon" : "later"
  }
}

extension Effect {
  /// The name of the case.
  fileprivate var name: Substring { "\(self)".prefix { $0 != "(" } }
}
