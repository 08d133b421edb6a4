import JSONRPC
import SDKProtocol
import Synchronization

@testable import SDKInstances

/// An observer that collects the calls that have ended.
final class ObservedCalls: CallObserver {
  private let all = Mutex<[EndedCall]>([])

  func observation(of method: (any SDKMethod.Type)?) -> CallObservation? {
    { call in
      let call = copy call
      self.all.withLock { $0.append(call) }
    }
  }

  /// Returns the calls that have ended since the last `take()`.
  func take() -> [EndedCall] {
    all.withLock { calls in
      defer { calls = [] }
      return calls
    }
  }
}

extension EndedCall {
  /// The method, instance, uid and outcome on one line.
  var words: String {
    "\(method?.name ?? "-") \(instance?.name ?? "-") \(peer.uid) \(failure?.reason ?? "ok")"
  }
}
