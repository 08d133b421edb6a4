public import SDKProtocol

/// A function that observes one method's calls as they end. It runs on event loops and on the calls' tasks: it must be
/// quick, must not wait and must not fail.
public typealias CallHearer = @Sendable (borrowing EndedCall) -> Void

/// An observer of calls, such as the audit and the metrics.
public protocol CallObserver: Sendable {
  /// Returns the function that observes a method's calls. Called once for each method when the daemon starts, so that a
  /// call needs no look-up.
  ///
  /// - Parameter method: `nil` for calls of unknown methods and for refused connections.
  /// - Returns: `nil` when the observer needs none of these calls.
  func hearer(of method: (any SDKMethod.Type)?) -> CallHearer?
}

extension Sequence where Element == any CallObserver {
  /// Returns one function for all observers of a method; `nil` if it has no observer.
  func hearer(of method: (any SDKMethod.Type)?) -> CallHearer? {
    let hearers = compactMap { $0.hearer(of: method) }
    switch hearers.count {
    case 0: return nil
    case 1: return hearers[0]
    default: return { call in for hear in hearers { hear(call) } }
    }
  }
}
