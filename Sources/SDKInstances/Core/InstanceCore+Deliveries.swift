import SDKProtocol
import StateStore

extension InstanceCore {
  /// Starts the deliveries that are due, and abandons those past their deadline.
  mutating func startDeliveries(_ context: StepContext) -> [(service: String?, effect: Effect)] {
    guard !isDeleted else { return [] }
    return deliveries.filter { mayDeliver($0) && $0.dueTime(context.now) <= context.now }.map { delivery in
      delivering.insert(delivery.id)
      return (delivery.service, context.now < delivery.deadline ? .deliver(delivery) : .abandonLate(delivery))
    }
  }

  /// Returns the time at which the next delivery is due; `nil` without one.
  func nextDelivery(_ now: Timestamp) -> Timestamp? { deliveries.filter(mayDeliver).map { $0.dueTime(now) }.min() }

  /// Whether a delivery may start now. It waits while a login or logout of its service is in progress, and while any
  /// service shows the vendor what the delivery would end: the login then makes it superfluous.
  private func mayDeliver(_ delivery: Delivery) -> Bool {
    if delivering.contains(delivery.id) || self[delivery.service]?.machine.isChangingUser == true { return false }
    let keys = sessionKeys(endedBy: delivery)
    return keys.isEmpty || !services.contains { isOffered(keys, on: $0) }
  }

  /// Returns the keys of the sessions at the present backend that a delivery ends.
  func sessionKeys(endedBy delivery: Delivery) -> Set<Secret> {
    guard delivery.isOfFormerBackend != true, let cleanup = adapter.capabilities.cleanup else { return [] }
    return cleanup.sessionKeys(endedBy: delivery)
  }

  /// Returns the keys of the session of a service's user.
  func sessionKeys(of service: String?) -> Set<Secret> {
    self[service].map { adapter.sessionKeys(of: $0.identity) } ?? []
  }

  /// Whether a delivery in progress may end the session of a service's user.
  func isEnding(_ state: ServiceState) -> Bool {
    let keys = adapter.sessionKeys(of: state.identity)
    return deliveries.contains { delivering.contains($0.id) && !sessionKeys(endedBy: $0).isDisjoint(with: keys) }
  }

  /// Whether a service is signed in with one of these sessions.
  func isInUse(_ keys: Set<Secret>, on state: ServiceState) -> Bool {
    state.machine.hasIdentity && !keys.isDisjoint(with: adapter.sessionKeys(of: state.identity))
  }

  /// Whether a service is being signed in, or shows a credential to the vendor, with what may be one of these sessions.
  /// Some credentials reveal their user only when the login ends.
  func isOffered(_ keys: Set<Secret>, on state: ServiceState) -> Bool {
    guard state.isOffering, let offered = state.running?.offered else { return false }
    return adapter.sessionKeys(of: offered).map { !$0.isDisjoint(with: keys) } ?? true
  }

  /// Whether a successful delivery may have ended the push registrations of the present user.
  func mayEndPushes(_ delivery: Delivery) -> Bool {
    !isDeleted && delivery.isOfFormerBackend != true && adapter.capabilities.cleanup?.endsPushes(delivery) == true
  }

  /// Logs the user out locally, if still signed in, after a delivery has ended their session at the vendor.
  mutating func sessionEnded(by delivery: Delivery, _ context: StepContext) -> Step {
    guard !isDeleted, delivery.endsSession, delivery.isOfFormerBackend != true,
      deliveries.contains(where: { $0.id == delivery.id }),
      let state = self[delivery.service], let subject = delivery.subject, state.identity.subject == subject,
      !state.machine.isChangingUser
    else { return Step() }
    return apply(.signOut(localOnly: true), on: delivery.service, isInformed: true, context)
  }

  /// Returns the cleanup deliveries for a service's user who is wiped, without what would end a credential that another
  /// service uses.
  func farewell(
    to state: ServiceState, isInformed: Bool = false, sparing others: [ServiceState], _ now: Timestamp
  ) -> [Delivery] {
    guard let cleanup = adapter.capabilities.cleanup else { return [] }
    let all = cleanup.farewell(
      to: state.identity, pushes: ownPushes(of: state.service), isInformed: isInformed, now: now)
    return all.compactMap { delivery in
      others.reduce(Optional(delivery.of(state.service))) { left, other in
        left.flatMap { cleanup.sparing(other.identity, in: $0) }
      }
    }
  }

  /// Removes deliveries, and returns the parts that remove them from the disk.
  mutating func drop(_ isDropped: (Delivery) -> Bool) -> [InstanceChange.Part] {
    defer { deliveries.removeAll(where: isDropped) }
    return deliveries.filter(isDropped).map { .deleteOutbox(id: $0.id) }
  }

  /// Removes the pending logouts of a user at the present backend, and returns the parts that remove them from the disk.
  mutating func dropLogouts(of subject: Secret, on service: String?) -> [InstanceChange.Part] {
    drop { $0.endsSession && $0.subject == subject && $0.service == service && $0.isOfFormerBackend != true }
  }

  /// Adds the cleanup deliveries for a login that is not used and could not be undone, because the vendor could not be
  /// reached. Adds none if the session is in use at the same backend, or if the outbox is full. Deliveries that can't be
  /// stored are made from memory, and an attempt that fails stores them.
  ///
  /// - Parameter origin: the request that made the login.
  mutating func leaveCleanup(
    of unused: IdentityRecord, from origin: SignedIn.Origin?, on service: String?, _ context: StepContext
  ) -> Step {
    let keys = adapter.sessionKeys(of: unused)
    guard !isDeleted, !hasBackend(of: origin) || !services.contains(where: { isInUse(keys, on: $0) }),
      let cleanup = (origin?.adapter ?? adapter).capabilities.cleanup
    else { return Step() }
    var left = cleanup.farewell(to: unused, pushes: [], isInformed: false, now: context.now)
    if let logout = cleanup.logout(ofReplaced: unused, now: context.now) { left.append(logout) }
    // A delivery with `endsAtSignIn` would affect a user who has signed in meanwhile.
    left.removeAll { $0.endsAtSignIn == true && self[service]?.machine.hasIdentity == true }
    guard !left.isEmpty, deliveries.count + left.count <= StoredOutboxEntry.maximumCount else { return Step() }
    left = left.map { delivery in
      var delivery = delivery.of(service)
      delivery.isOfFormerBackend = hasBackend(of: origin) ? nil : true
      delivery.nextAttemptAt = context.now + delivery.pause(random: context.random)
      return delivery
    }
    deliveries += left
    var step = Step(change: unconditionalChange(parts: Self.parts(writing: [], left)))
    step.failure = .keepInMemory
    return step
  }

  /// Records an attempt to make a delivery. Removes the delivery if it succeeded or is abandoned; otherwise plans the
  /// next attempt.
  ///
  /// - Parameters:
  ///   - details: the delivery's details after the attempt, which the next attempt gets.
  ///   - failure: the error of the attempt; `nil` after a success. Only an unreachable vendor is tried again.
  mutating func delivered(
    _ delivery: Delivery, leaving details: [String: Secret], failure: SDKError?, _ context: StepContext
  ) -> Step {
    var step = Step()
    delivering.remove(delivery.id)
    guard !isDeleted, let index = deliveries.firstIndex(where: { $0.id == delivery.id }) else { return step }
    var next = deliveries.remove(at: index)
    // A login during the attempt may have removed details, so that they end no credential in use.
    for (key, value) in details where delivery.details[key] == next.details[key] { next.details[key] = value }
    next.attempts += 1
    next.nextAttemptAt = context.now + max(next.pause(random: context.random), failure?.retryAfter ?? 0)
    var isOver = failure?.origin != .unreachable || next.deadline <= context.now
    if failure == nil, let rest = adapter.capabilities.cleanup?.rest(of: next) {
      next = rest
      next.attempts = 0
      next.nextAttemptAt = context.now
      isOver = false
    }
    if isOver, let failure { step.add(.logAbandoned(next, failure), on: next.service) }
    if !isOver { deliveries.append(next) }
    step.change = unconditionalChange(
      parts: isOver ? [.deleteOutbox(id: next.id)] : Self.parts(writing: [], [next]))
    step.failure = .keepInMemory
    return step
  }
}

extension Delivery {
  /// The longest pause between two attempts, in seconds: the longest `Retry-After` that counts.
  static let longestPause = 3600.0

  /// Returns the time of the next attempt, or of the deadline if that is earlier. It is `now` if that lies further away
  /// than any pause, because the clock was set back. One second is added for rounding.
  fileprivate func dueTime(_ now: Timestamp) -> Timestamp {
    let planned = min(nextAttemptAt ?? createdAt, deadline)
    return planned - now > Self.longestPause + 1 ? now : planned
  }

  /// Splits deliveries into the newest ones, up to the maximum of an instance, and the older rest.
  static func newest(_ all: [Delivery]) -> (kept: [Delivery], dropped: [Delivery]) {
    let excess = all.count - StoredOutboxEntry.maximumCount
    guard excess > 0 else { return (all, []) }
    let dropped = Array(all.sorted { $0.createdAt < $1.createdAt }.prefix(excess))
    let ids = Set(dropped.map(\.id))
    return (all.filter { !ids.contains($0.id) }, dropped)
  }

  /// Returns the seconds until the next attempt: a random part of a limit, but at least 0.5. The limit doubles with
  /// each attempt, up to 300.
  func pause(random: Double) -> Double {
    let longest = min(300, Double(1 << min(attempts, 9)))
    return max(0.5, longest * min(max(random, 0), 1))
  }
}
