/// What a caller may do with an instance; each role includes the ones before it.
public enum Role: Int, Sendable, Comparable, CaseIterable, Codable {
  /// Reads state and events, never a credential.
  case observe = 1
  /// Gets tokens and opens sessions.
  case use
  /// Logs in and out.
  case control
  /// Changes settings and access, deletes.
  case owner
  /// Everything, on every instance.
  case admin

  public static func < (one: Role, other: Role) -> Bool { one.rawValue < other.rawValue }

  /// The role's name in texts and documents.
  public var name: String {
    switch self {
    case .observe: "observe"
    case .use: "use"
    case .control: "control"
    case .owner: "owner"
    case .admin: "admin"
    }
  }
}

/// What it takes to call a method.
public enum MethodAccess: Sendable, Hashable {
  /// Whoever can connect.
  case anyone
  /// A role on the instance that the call names, or on each that it touches.
  case role(Role)
  /// Admin, or a rule that lets the caller create instances.
  case creator

  /// The word for documents.
  public var name: String {
    switch self {
    case .anyone: "anyone"
    case .role(let role): role.name
    case .creator: "create rule"
    }
  }
}

/// How a method stands among the other calls on its instance.
public enum MethodOrdering: Sendable, Hashable {
  /// Touches no instance, or needs no order.
  case free
  /// Sees the identity and storage writes that came before it on its connection.
  case read
  /// Accepted in arrival order. One that `waits` also waits for the writes that came before it on its connection; a
  /// login or logout does not: it supersedes them.
  case write(waits: Bool)

  /// The word for documents.
  public var name: String {
    switch self {
    case .free: "free"
    case .read: "read"
    case .write: "write"
    }
  }
}
