public import JSONRPC
public import SDKProtocol

/// A call that has its outcome: answered, refused, or taken back.
public struct EndedCall: Sendable {
  /// A credential that an answer carries.
  public struct HandedOut: Sendable, Hashable {
    /// Which one: a digest.
    public let tokenId: TokenID
    /// Of which service, for kinds that have several.
    public let service: String?
  }

  /// The method; `nil` for one that there is not, and for a connection that was refused.
  public let method: (any SDKMethod.Type)?
  /// The instance that the call names; it need not be there.
  public let instance: InstanceID?
  /// Who called.
  public let peer: Peer
  /// Why it failed; `nil` when it succeeded.
  public let failure: RPCError?
  /// What the answer hands out.
  public let handedOut: HandedOut?
  /// From when the call was accepted to its outcome, by the gateway's clock; nothing for a call that was refused before.
  public let duration: Duration
  /// Whether it was answered on the event loop.
  public let isImmediate: Bool
}
