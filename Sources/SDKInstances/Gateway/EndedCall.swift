public import JSONRPC
public import SDKProtocol

/// A call that has ended: answered, refused or cancelled.
public struct EndedCall: Sendable {
  /// A credential that a response carries.
  public struct HandedOut: Sendable, Hashable {
    /// The credential's digest.
    public let tokenId: TokenID
    /// The credential's service, for kinds that have several.
    public let service: String?
  }

  /// The method; `nil` for an unknown method and for a refused connection.
  public let method: (any SDKMethod.Type)?
  /// The instance that the call names. It may not exist.
  public let instance: InstanceID?
  /// The caller.
  public let peer: Peer
  /// The error; `nil` when the call succeeded.
  public let failure: RPCError?
  /// The credential that the response carries; `nil` without one.
  public let handedOut: HandedOut?
  /// The time from the call's acceptance to its outcome, by the gateway's clock; zero for a call refused before.
  public let duration: Duration
  /// Whether the call was answered on the event loop.
  public let isImmediate: Bool
}
