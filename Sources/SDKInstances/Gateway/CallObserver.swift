public import SDKProtocol

/// Hears of one method's calls as they end. Runs on event loops and on the calls' tasks: it must be quick, must not wait
/// and must not fail.
public typealias CallHearer = @Sendable (borrowing EndedCall) -> Void

/// Who observes calls, such as the audit and the metrics.
public protocol CallObserver: Sendable {
  /// What hears of a method's calls. Asked once for each method when the daemon starts, so that a call looks nothing up.
  ///
  /// - Parameter method: `nil` for calls of methods that there are not, and for connections that are refused.
  /// - Returns: `nil` when the observer wants none of them.
  func hearer(of method: (any SDKMethod.Type)?) -> CallHearer?
}

extension Sequence where Element == any CallObserver {
  /// One hearer for all observers of a method; `nil` when nobody wants to hear.
  func hearer(of method: (any SDKMethod.Type)?) -> CallHearer? {
    let hearers = compactMap { $0.hearer(of: method) }
    switch hearers.count {
    case 0: return nil
    case 1: return hearers[0]
    default: return { call in for hear in hearers { hear(call) } }
    }
  }
}
