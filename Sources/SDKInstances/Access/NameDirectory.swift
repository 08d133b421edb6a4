import SDKProtocol

/// An in-memory directory of uids and gids by name. No call waits for a name service.
public protocol NameDirectory: AnyObject, Sendable {
  /// Returns the uid of a user; `nil` for a name that is unknown or not resolved yet.
  func uid(ofUser name: String) -> UInt32?
  /// Returns the gid of a group; `nil` for a name that is unknown or not resolved yet.
  func gid(ofGroup name: String) -> UInt32?
  /// Requests the resolution of names in rules that take effect. Returns at once; the names are resolved soon after.
  ///
  /// - Parameter owner: the uid of the rules' owner. Each owner has an equal share of the look-ups.
  func request(_ names: Set<SystemName>, for owner: UInt32)
  /// Returns the user whose quotas a uid counts against: the uid itself, or for a subordinate uid its owner. Rights
  /// never follow from this.
  func user(of uid: UInt32) -> UInt32
  /// Calls a function after numbers of names have changed, soon and on any thread.
  func observe(_ observer: @escaping @Sendable () -> Void)
}

extension NameDirectory {
  /// Returns the uid: a directory without subordinate uids.
  public func user(of uid: UInt32) -> UInt32 { uid }
  /// Does nothing: the numbers never change.
  public func observe(_ observer: @escaping @Sendable () -> Void) {}
}

/// The name of a user or a group. Names are equal when their UTF-8 bytes are.
public struct SystemName: Sendable, Hashable {
  /// A database of the system's name service.
  public enum Database: Sendable {
    /// Users by name (passwd).
    case users
    /// Groups by name (group).
    case groups
    /// Users by uid (passwd). The name is the uid as decimal digits.
    case uids
  }

  /// The database that the name belongs to.
  public let database: Database
  /// The name.
  public let text: String

  /// Creates a name in a database.
  public init(_ database: Database, _ text: String) {
    self.database = database
    self.text = text
  }

  public static func == (one: SystemName, other: SystemName) -> Bool {
    one.database == other.database && one.text.utf8.elementsEqual(other.text.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(database)
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension AccessRule {
  /// The names that must be resolved before the rule can match.
  var names: [SystemName] {
    conditions.compactMap { condition in
      switch condition {
      case .user(let name), .userUnit(_, let name), .userScope(_, let name): SystemName(.users, name)
      case .group(let name): SystemName(.groups, name)
      case .everyone, .uid, .unit: nil
      }
    }
  }
}

extension AccessRules {
  /// The names that must be resolved before the rules can match.
  var names: Set<SystemName> { Set(byRole.flatMap { $0.rules.flatMap(\.names) }) }
}
