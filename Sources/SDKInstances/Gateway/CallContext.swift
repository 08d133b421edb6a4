public import SDKProtocol

/// What a handler knows of a call.
public struct CallContext: Sendable {
  /// Who calls, on which connection.
  public let session: ClientSession
  /// The call's place among the writes on its instance; released when the call has been accepted or has ended.
  public let place: WriteLanes.Place?
  /// What the handler leaves behind.
  let notes = CallNotes()

  /// Who calls.
  public var peer: Peer { session.link.peer }

  /// Lets the next write on the instance go: this one has its place.
  public func accepted() { place?.release() }

  /// Does something once the reply is on its way.
  public func afterReply(_ work: @escaping @Sendable () async -> Void) { notes.add(work) }

  /// Notes the credential that the answer carries, for those who observe calls.
  public func handsOut(_ tokenId: TokenID, service: String? = nil) {
    notes.handedOut = EndedCall.HandedOut(tokenId: tokenId, service: service)
  }
}
