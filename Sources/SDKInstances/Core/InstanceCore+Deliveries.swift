import JSONRPC
import SDKProtocol
import StateStore

extension InstanceCore {
  /// Starts the deliveries that are due, and abandons those past their deadline.
  mutating func startDeliveries(_ context: StepContext) -> [(service: String?, effect: Effect)] {
    guard !isDeleted else { return [] }
    return deliveries.filter { mayDeliver($0) && $0.dueTime <= context.now }.map { delivery in
      delivering.insert(delivery.id)
      return (delivery.service, context.now < delivery.deadline ? .deliver(delivery) : .abandonLate(delivery))
    }
  }

  /// The time at which the next delivery is due; `nil` without one.
  var nextDelivery: Timestamp? { deliveries.filter(mayDeliver).map(\.dueTime).min() }

  /// Whether a delivery may start now. A logout, and a delivery with `endsAtSignIn`, wait while a login or logout is in
  /// progress.
  private func mayDeliver(_ delivery: Delivery) -> Bool {
    guard !delivering.contains(delivery.id) else { return false }
    guard delivery.endsAtSignIn == true || delivery.endsSession, let state = self[delivery.service] else { return true }
    return !state.isChangingUser
  }

  /// Logs the user out locally, if still signed in, after a delivery has ended their session at the vendor.
  mutating func sessionEnded(by delivery: Delivery, _ context: StepContext) -> Step {
    guard !isDeleted, delivery.endsSession, deliveries.contains(where: { $0.id == delivery.id }),
      let state = self[delivery.service], let subject = delivery.subject, state.identity.subject == subject,
      !state.isChangingUser
    else { return Step() }
    return apply(.signOut(localOnly: true), on: delivery.service, isInformed: true, context)
  }

  /// Records an attempt to make a delivery. Removes the delivery if it succeeded or is abandoned; otherwise plans the
  /// next attempt.
  ///
  /// - Parameter failure: the error of the attempt; `nil` after a success. Only an unreachable vendor is tried again.
  mutating func delivered(_ delivery: Delivery, failure: SDKError?, _ context: StepContext) -> Step {
    var step = Step()
    delivering.remove(delivery.id)
    guard !isDeleted, let index = deliveries.firstIndex(where: { $0.id == delivery.id }) else { return step }
    var next = deliveries.remove(at: index)
    next.attempts += 1
    next.nextAttemptAt = context.now + next.pause(random: context.random)
    let isOver = failure?.origin != .unreachable || next.deadline <= context.now
    if isOver, let failure { step.add(.logAbandoned(next, failure), on: next.service) }
    let json = try? JSONValueEncoder.encode(next)
    if !isOver, let json {
      deliveries.append(next)
      step.change = unconditionalChange(parts: [.putOutbox(id: next.id, json, deadline: next.deadline)])
    } else {
      step.change = unconditionalChange(parts: [.deleteOutbox(id: next.id)])
    }
    step.failure = .keepInMemory
    return step
  }
}

extension Delivery {
  /// The time of the next attempt, or of the deadline if that is earlier.
  fileprivate var dueTime: Timestamp { min(nextAttemptAt ?? createdAt, deadline) }

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
