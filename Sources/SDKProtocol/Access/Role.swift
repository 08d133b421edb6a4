/// The rights of a caller on an instance. Each role includes the ones before it.
public enum Role: Int, Sendable, Comparable, CaseIterable, Codable {
  /// Reads state and events, never a credential.
  case observe = 1
  /// Gets tokens and opens sessions.
  case use
  /// Logs in and out.
  case control
  /// Changes settings and access, and deletes the instance.
  case owner
  /// Has all rights on every instance.
  case admin

  public static func < (one: Role, other: Role) -> Bool { one.rawValue < other.rawValue }

  /// The role's name in messages and in the OpenRPC document.
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

/// The access that a method requires of its caller.
public enum MethodAccess: Sendable, Hashable {
  /// Any caller that can connect.
  case anyone
  /// A role on the instance that the call names, or on each instance that it affects.
  case role(Role)
  /// The role admin, or a rule that lets the caller create instances.
  case creator

  /// The name of the access in the OpenRPC document.
  public var name: String {
    switch self {
    case .anyone: "anyone"
    case .role(let role): role.name
    case .creator: "create rule"
    }
  }
}

/// The order of a method relative to the other calls on its instance.
public enum MethodOrdering: Sendable, Hashable {
  /// No order: the method affects no instance, or its order does not matter.
  case free
  /// A read: it waits for the identity and storage writes that came before it on its connection, and sees their
  /// results.
  case read
  /// A write, accepted in arrival order. If `waits` is `true`, it also waits for the writes that came before it on its
  /// connection. A login or logout does not wait, because it supersedes them.
  case write(waits: Bool)

  /// The name of the ordering in the OpenRPC document.
  public var name: String {
    switch self {
    case .free: "free"
    case .read: "read"
    case .write: "write"
    }
  }
}
