import SDKProtocol
import Synchronization

/// The notes of a handler beside its result.
final class CallNotes: Sendable {
  private struct Notes {
    var followUps: [@Sendable () async -> Void] = []
    var handedOut: EndedCall.HandedOut?
  }

  private let notes = Mutex(Notes())

  /// Adds work to do after the reply.
  func add(_ item: @escaping @Sendable () async -> Void) { notes.withLock { $0.followUps.append(item) } }

  /// Removes and returns the work to do after the reply.
  func takeFollowUps() -> [@Sendable () async -> Void] {
    notes.withLock { notes in
      defer { notes.followUps = [] }
      return notes.followUps
    }
  }

  /// The credential that the response carries.
  var handedOut: EndedCall.HandedOut? {
    get { notes.withLock { $0.handedOut } }
    set { notes.withLock { $0.handedOut = newValue } }
  }
}
