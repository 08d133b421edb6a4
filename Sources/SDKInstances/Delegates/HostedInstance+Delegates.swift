import Concurrency
import SDKProtocol

extension HostedInstance {
  /// Emits that a delegate was attached or detached, and plans again, since a delegate may be available now.
  func delegateChanged(isAttached: Bool) async {
    await announce(isAttached ? .delegateAttached : .delegateDetached)
    await changing.lock()
    defer { changing.unlock() }
    plan()
  }
}
