import JSONRPC
import SDKProtocol

/// Which calls of a method the audit writes down when they were not refused. A credential in an answer is written down
/// for any method.
enum AuditRule: Hashable {
  /// Each: it changes an identity, a definition, who answers for an instance, or the daemon.
  case each
  /// The first of a process, then counted: it shows an admin what only admins see.
  case counted
  /// None.
  case none

  init(_ method: any SDKMethod.Type) {
    let isWrite = if case .write = method.ordering { true } else { false }
    switch method.access {
    case .creator: self = .each
    case .role(let role) where role >= .control && isWrite: self = .each
    case .role(.admin): self = .counted
    // Whoever leaves the answering to others changes it as whoever takes it.
    case .anyone where isWrite: self = .each
    case .role, .anyone: self = .none
    }
  }

  /// The reasons of refusals: the caller is not allowed to, or wants too much.
  static let refusals: Set<String> = Set(
    ([
      .accessDenied, .instanceNotFound, .ownedByFile, .rateLimit, .tooManyInFlight, .tooManyInstances,
      .tooManySubscriptions, .storageFull,
    ] as [Reason]).map(\.rawValue))

  /// Whether a failed call came to nothing before it meant anything: it was no call, or was taken back.
  static func isNoCall(_ error: RPCError) -> Bool {
    (-32700 ... -32600).contains(error.code) && error.code != -32603 || error.code == RPCError.cancelled.code
  }
}
