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

/// The part of an instance that a method concerns. It decides what calls wait for on their connection.
public enum MethodConcern: Sendable, Hashable {
  /// The instance itself. The method sees the identity and storage writes that came before it.
  case instance
  /// The user's credential or data. The method also waits for a login of another user that was accepted before it,
  /// and fails with that login.
  case user
  /// The user's push registrations. The method also waits for registrations that came before it. Only such methods
  /// wait for it, because a registration may take as long as the vendor or a person takes.
  case push
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
