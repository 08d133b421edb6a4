import SDKProtocol
public import StateStore

/// The concealment of one instance's users, whose external ids are secrets: digests take their place.
public struct Concealment: Sendable {
  private let digests: IdentityDigests
  private let instance: InstanceUUID

  /// Creates the concealment for an instance.
  public init(_ digests: IdentityDigests, of instance: InstanceUUID) {
    self.digests = digests
    self.instance = instance
  }

  /// Returns a user with a digest in place of the external id.
  func user(_ user: User) -> User {
    var user = user
    user.externalId = user.externalId.map { digests.digest(of: $0, in: instance) }
    return user
  }
}
