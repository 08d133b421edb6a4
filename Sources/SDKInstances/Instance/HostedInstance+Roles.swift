import SDKProtocol
import Synchronization

extension HostedInstance {
  /// Returns the table of the instance's access rules. It is made anew if the rules have changed since.
  ///
  /// Names that have got other numbers since are not noticed here: `makeRoles` is called then.
  func roles(_ names: any NameDirectory) -> RoleTable {
    let access = currentAccess
    // Arrays with the same storage are equal without a comparison of their elements.
    if let made = actor.roles.withLock({ $0 }), made.access.grantsLike(access) { return made }
    return makeRoles(names)
  }

  /// Makes the table of the instance's access rules from the present rules and numbers.
  @discardableResult
  func makeRoles(_ names: any NameDirectory) -> RoleTable {
    // Read while locked: a table of older rules never replaces one of newer rules.
    actor.roles.withLock { roles in
      let made = RoleTable(currentAccess, names: names)
      roles = made
      return made
    }
  }
}
