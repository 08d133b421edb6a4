import JSONRPC
import Logging
import SDKProtocol
import StateStore

extension HostedInstance {
  /// Wipes the data of a former user at start, if the kind keeps identities in memory only. Its owner is unknown then,
  /// and the next user must not inherit it. Push registrations stay at the vendor, orphaned.
  func wipeUnkept() async {
    guard !adapter.traits.persistsIdentity, let lane = lanes.first, lane.identity.isNobody else { return }
    do throws(SDKError) {
      let abandoned = pushes.filter { !$0.orphaned }
      let keys = try await environment.store.storageKeys(of: uuid)
      guard !abandoned.isEmpty || !keys.isEmpty else { return }
      let kept = pushes.map { push in
        var push = push
        push.orphaned = true
        return push
      }
      var change = newChange(parts: [.wipe])
      for push in kept {
        guard let json = try? JSONValueEncoder.encode(push) else { continue }
        change.parts.append(.putPush(id: push.id, json))
      }
      for delivery in deliveries {
        guard let json = try? JSONValueEncoder.encode(delivery) else { continue }
        change.parts.append(.putOutbox(id: delivery.id, json, deadline: delivery.deadline))
      }
      change.events = abandoned.map { .init(.pushOrphaned, service: $0.service, data: $0.eventData) }
      change.events.append(.init(.identityWiped, service: lane.service))
      let done = try await store(change, record: lane.identity, on: lane, raisedBy: 0)
      pushes = kept
      environment.events.append(done.events)
    } catch {
      logger.error(
        "What a former user left could not be wiped: \(error.message)", metadata: ["reason": "\(error.reason)"])
      _ = lane.machine.apply(.wipeFailed)
    }
  }
}
