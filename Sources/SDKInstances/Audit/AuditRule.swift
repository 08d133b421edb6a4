import JSONRPC
import SDKProtocol

/// The rule that decides which of a method's calls are recorded, apart from refused ones. An issued credential is
/// recorded for any method.
enum AuditRule: Hashable {
  /// Every call: it changes an identity, a definition, an instance's delegates, or the daemon.
  case each
  /// The first call of each program; later ones are counted. The method shows an admin data that only admins may see.
  case counted
  /// No call.
  case none

  init(_ method: any SDKMethod.Type) {
    let isWrite = if case .write = method.ordering { true } else { false }
    switch method.access {
    case .creator: self = .each
    case .role(let role) where role >= .control && isWrite: self = .each
    case .role(.admin): self = .counted
    // Detaching a delegate changes which delegate responds, just as attaching one does.
    case .anyone where isWrite: self = .each
    case .role, .anyone: self = .none
    }
  }

  /// The error reasons of refusals: the caller lacks a right or exceeds a limit.
  static let refusals: Set<String> = Set(
    ([
      .accessDenied, .instanceNotFound, .ownedByFile, .rateLimit, .tooManyInFlight, .tooManyInstances,
      .tooManySubscriptions, .storageFull,
    ] as [Reason]).map(\.rawValue))

  /// Whether a failed call never ran: it was invalid, its method is unknown, or it was cancelled.
  static func isNoCall(_ error: RPCError) -> Bool {
    (-32700 ... -32600).contains(error.code) && error.code != -32603 || error.code == RPCError.cancelled.code
  }
}
