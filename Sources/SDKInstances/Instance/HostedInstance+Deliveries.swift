import Concurrency
import JSONRPC
import Logging
import SDKProtocol
import StateStore

extension HostedInstance {
  /// Starts the deliveries that are due, and abandons those past their deadline.
  func deliverPending() {
    guard !isDeleted else { return }
    for delivery in deliveries where mayDeliver(delivery) && dueTime(delivery) <= now {
      delivering.insert(delivery.id)
      guard now < delivery.deadline else {
        environment.operations.start { await self.delivered(delivery, failure: Self.tooLate) }
        continue
      }
      let adapter = adapter
      environment.operations.startBackground {
        do throws(SDKError) {
          try await adapter.capabilities.require(\.cleanup).deliver(delivery)
          await self.delivered(delivery, failure: nil)
        } catch {
          await self.delivered(delivery, failure: error)
        }
      }
    }
  }

  /// Returns the time at which the next delivery is due; `nil` without one.
  func nextDelivery() -> Timestamp? {
    deliveries.filter(mayDeliver).map(dueTime).min()
  }

  /// Whether a delivery may start now. A logout, and a delivery with `endsAtSignIn`, wait while a login or logout is in
  /// progress.
  private func mayDeliver(_ delivery: Delivery) -> Bool {
    guard !delivering.contains(delivery.id) else { return false }
    guard delivery.endsAtSignIn == true || delivery.endsSession, let lane = lane(delivery.service) else { return true }
    return !isChangingUser(lane)
  }

  private func isChangingUser(_ lane: Lane) -> Bool {
    switch lane.machine.activity {
    case .endingFormer, .signingIn, .creatingAnonymous, .askingForSignOut, .signingOut: true
    default: false
    }
  }

  private func dueTime(_ delivery: Delivery) -> Timestamp {
    min(delivery.nextAttemptAt ?? delivery.createdAt, delivery.deadline)
  }

  private static let tooLate = SDKError(
    .unreachable, .timeout, "The time to tell the vendor was over before it could be reached.")

  /// Logs that deliveries are abandoned, because the instance has more than the maximum.
  func noteGivenUp(_ deliveries: [Delivery]) {
    for delivery in deliveries {
      logger.warning(
        "The vendor is not told any more (\(delivery.purpose)): newer deliveries have taken the last of the room.")
    }
  }

  private func delivered(_ delivery: Delivery, failure: SDKError?) async {
    await changing.lock()
    defer { changing.unlock() }
    await conclude(delivery, failure: failure)
    // Removed last: `conclude` may start due deliveries, and must not start this one again.
    delivering.remove(delivery.id)
    plan()
  }

  private func conclude(_ delivery: Delivery, failure: SDKError?) async {
    guard !isDeleted, let index = deliveries.firstIndex(where: { $0.id == delivery.id }) else { return }
    var next = deliveries[index]
    next.attempts += 1
    next.nextAttemptAt = now + next.pause(random: environment.clock.random())
    let isOver = failure?.origin != .unreachable || next.deadline <= now
    if isOver, let failure {
      logger.warning(
        "The vendor could not be told (\(delivery.purpose)); this is given up: \(failure.message)",
        metadata: ["reason": "\(failure.reason)"])
    }
    if failure == nil, delivery.endsSession { await endSession(by: delivery) }
    guard deliveries.contains(where: { $0.id == delivery.id }) else { return }
    await update(next, isOver: isOver)
  }

  private func update(_ delivery: Delivery, isOver: Bool) async {
    guard let json = try? JSONValueEncoder.encode(delivery) else { return }
    let part: InstanceChange.Part =
      isOver
      ? .deleteOutbox(id: delivery.id) : .putOutbox(id: delivery.id, json, deadline: delivery.deadline)
    do throws(SDKError) {
      let done = try await commit(InstanceChange(uuid: uuid, id: id, kind: kind, parts: [part]))
      if let unfinished = done.unfinished { throw unfinished }
    } catch {
      logger.error("A delivery could not be noted: \(error.message)", metadata: ["reason": "\(error.reason)"])
    }
    deliveries.removeAll { $0.id == delivery.id }
    if !isOver { deliveries.append(delivery) }
    publish()
  }

  /// Logs the user out locally, if still signed in, after a delivery has ended their session at the vendor.
  private func endSession(by delivery: Delivery) async {
    guard let lane = lane(delivery.service), let subject = delivery.subject,
      lane.identity.subject == subject, !isChangingUser(lane)
    else { return }
    await take(.signOut(localOnly: true), on: lane, isInformed: true)
  }
}

extension Delivery {
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
