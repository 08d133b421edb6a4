import Logging
import SDKProtocol
import StateStore

extension HostedInstance {
  /// A delegate was attached or detached: tells so, and plans anew, for there may be somebody to ask now.
  func delegateChanged(isAttached: Bool) async {
    await enter()
    defer { leave() }
    guard !isDeleted else { return }
    let change = InstanceChange(
      uuid: uuid, id: id, kind: kind, events: [.init(isAttached ? .delegateAttached : .delegateDetached)])
    do throws(SDKError) {
      await environment.events.append(try await environment.store.commit(change).events)
    } catch {
      logger.error("An event could not be stored: \(error.message)", metadata: ["reason": "\(error.reason)"])
    }
    plan()
  }
}
