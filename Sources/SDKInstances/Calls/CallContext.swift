public import SDKProtocol
import Synchronization

/// The context of a call, for its handler.
public struct CallContext: Sendable {
  /// The connection that the call came on.
  public let session: ClientSession
  /// The call's place in the write order of its instances. It is released when the call has been accepted or has ended.
  public let place: WriteLanes.Place?
  /// The caller's role on the instance that the call is about. The handler of a method on one instance gets it.
  var role = Role.observe
  /// The handler's notes beside its result.
  let notes = CallNotes()

  /// The caller.
  public var peer: Peer { session.link.peer }

  /// Releases the call's place, so that the next write on the instance can run.
  public func accepted() { place?.release() }

  /// Schedules work for after the reply is sent.
  public func afterReply(_ work: @escaping @Sendable () async -> Void) { notes.add(work) }

  /// Notes the credential that the response carries, for call observers.
  public func noteIssued(_ tokenId: TokenID, service: String? = nil) {
    notes.issued = EndedCall.IssuedCredential(tokenId: tokenId, service: service)
  }
}

/// The notes of a handler beside its result.
final class CallNotes: Sendable {
  private struct Notes {
    var followUps: [@Sendable () async -> Void] = []
    var issued: EndedCall.IssuedCredential?
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
  var issued: EndedCall.IssuedCredential? {
    get { notes.withLock { $0.issued } }
    set { notes.withLock { $0.issued = newValue } }
  }
}
