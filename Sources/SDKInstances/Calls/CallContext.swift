import Concurrency
public import SDKProtocol
import Synchronization

/// The context of a call, for its handler.
public struct CallContext: Sendable {
  /// The connection that the call came on.
  public let session: ClientSession
  /// The call's position in the write order of its instances. It is released when the call has been accepted or has
  /// ended.
  public let place: WriteLanes.Place?
  /// The caller's role on the instance that the call is about. It is set for methods on one instance only.
  var role = Role.observe
  /// The ends of earlier writes on the connection, and of the logins that they left in progress.
  var logins: [Promise<Void>] = []
  /// The information that the handler returns in addition to its result.
  let notes = CallNotes()

  /// The caller.
  public var peer: Peer { session.link.peer }

  /// Releases the call's position in the write order, so that the next write on the instance can run.
  public func accepted() { place?.release() }

  /// Schedules work for after the reply is sent.
  public func afterReply(_ work: @escaping @Sendable () async -> Void) { notes.add(work) }

  /// Records the digest of the credential in the response, for call observers.
  public func noteIssued(_ tokenId: TokenID, service: String? = nil) {
    notes.issued = EndedCall.IssuedCredential(tokenId: tokenId, service: service)
  }
}

/// The information that a handler returns in addition to its result: work for after the reply, and the issued
/// credential.
final class CallNotes: Sendable {
  private struct Notes {
    var followUps: [@Sendable () async -> Void] = []
    var issued: EndedCall.IssuedCredential?
    var login: AcceptedLogin?
  }

  private let notes = Mutex(Notes())

  /// Adds work to do after the reply.
  func add(_ item: @escaping @Sendable () async -> Void) { notes.withLock { $0.followUps.append(item) } }

  /// Whether there is work to do after the reply.
  var hasFollowUps: Bool { notes.withLock { !$0.followUps.isEmpty } }

  /// Removes and returns the work to do after the reply.
  func takeFollowUps() -> [@Sendable () async -> Void] {
    notes.withLock { notes in
      defer { notes.followUps = [] }
      return notes.followUps
    }
  }

  /// The login that continues after the reply; `nil` without one.
  var login: AcceptedLogin? {
    get { notes.withLock { $0.login } }
    set { notes.withLock { $0.login = newValue } }
  }

  /// The credential that the response carries.
  var issued: EndedCall.IssuedCredential? {
    get { notes.withLock { $0.issued } }
    set { notes.withLock { $0.issued = newValue } }
  }
}
