public import JSONRPC
public import SDKProtocol

/// A function that observes one method's calls as they end. It runs on event loops and on the calls' tasks: it must be
/// quick, must not wait and must not fail.
public typealias CallObservation = @Sendable (borrowing EndedCall) -> Void

/// An observer of calls, such as the audit and the metrics.
public protocol CallObserver: Sendable {
  /// Returns the function that observes a method's calls. Called once for each method when the daemon starts, so that a
  /// call needs no look-up.
  ///
  /// - Parameter method: `nil` for calls of unknown methods and for refused connections.
  /// - Returns: `nil` when the observer needs none of these calls.
  func observation(of method: (any SDKMethod.Type)?) -> CallObservation?
}

extension Sequence where Element == any CallObserver {
  /// Returns one function for all observers of a method; `nil` if it has no observer.
  func observation(of method: (any SDKMethod.Type)?) -> CallObservation? {
    let observations = compactMap { $0.observation(of: method) }
    switch observations.count {
    case 0: return nil
    case 1: return observations[0]
    default: return { call in for observe in observations { observe(call) } }
    }
  }
}

/// A call that has ended: answered, refused or cancelled.
public struct EndedCall: Sendable {
  /// A credential that a response carries.
  public struct IssuedCredential: Sendable, Hashable {
    /// The credential's digest.
    public let tokenId: TokenID
    /// The credential's service, for kinds that have several.
    public let service: String?
  }

  /// The method; `nil` for an unknown method and for a refused connection.
  public let method: (any SDKMethod.Type)?
  /// The instance that the call names. It may not exist. `nil` if the call names several.
  public var instance: InstanceID?
  /// The instances that the call names, if there are several. They may not exist.
  public var instances: [InstanceID] = []
  /// The caller.
  public let peer: Peer
  /// The error; `nil` when the call succeeded.
  public let failure: RPCError?
  /// The credential that the response carries; `nil` without one.
  public let issued: IssuedCredential?
  /// The time from the call's acceptance to its outcome, by the gateway's clock; zero for a call refused before.
  public let duration: Duration
  /// Whether the call was answered on the event loop.
  public let isImmediate: Bool
}

/// A result that contains a credential, whose digest call observers get. Every result with a `Token` in it must
/// conform; a test checks the schemas of all methods.
protocol CredentialBearing {
  /// The credential's digest; `nil` if the result has no credential.
  var issued: TokenID? { get }
  /// The service of the credential, if the result names one.
  var issuedService: String? { get }
}

extension Token: CredentialBearing {
  var issued: TokenID? { tokenId }
  var issuedService: String? { nil }
}

extension Session: CredentialBearing {
  var issued: TokenID? { token?.tokenId }
  var issuedService: String? { service }
}
