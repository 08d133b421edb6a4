import SDKProtocol
import Synchronization

/// What a handler leaves behind beside its result.
final class CallNotes: Sendable {
  private struct Notes {
    var followUps: [@Sendable () async -> Void] = []
    var handedOut: EndedCall.HandedOut?
  }

  private let notes = Mutex(Notes())

  /// Adds what is done after the reply.
  func add(_ item: @escaping @Sendable () async -> Void) { notes.withLock { $0.followUps.append(item) } }

  /// Takes out what is done after the reply.
  func takeFollowUps() -> [@Sendable () async -> Void] {
    notes.withLock { notes in
      defer { notes.followUps = [] }
      return notes.followUps
    }
  }

  /// The credential that the answer carries.
  var handedOut: EndedCall.HandedOut? {
    get { notes.withLock { $0.handedOut } }
    set { notes.withLock { $0.handedOut = newValue } }
  }
}
