/// The maximum numbers of subscriptions. Admins have no maximum.
public struct SubscriptionLimits: Sendable, Hashable {
  /// The subscriptions of one connection.
  public var perConnection: Int
  /// The subscriptions of all connections of a user.
  public var perUser: Int
  /// The subscriptions of all users. Strangers have a quarter of them together.
  public var total: Int

  /// Creates limits; the defaults are the documented ones.
  public init(perConnection: Int = 16, perUser: Int = 256, total: Int = 4096) {
    self.perConnection = perConnection
    self.perUser = perUser
    self.total = total
  }

  /// Returns why a connection can't have one more subscription, as the beginning of a sentence; `nil` if it can.
  func refusal(of link: any ClientLink, on session: ObjectIdentifier, in table: SubscriptionTable) -> String? {
    if table.count(of: session) >= perConnection { return "A connection has at most \(perConnection) subscriptions" }
    if table.count(ofUser: link.peer.user) >= perUser {
      return "All connections of a user have at most \(perUser) subscriptions"
    }
    if link.isStranger, table.strangers >= total / 4 {
      return "All callers without a role have at most \(total / 4) subscriptions together"
    }
    return table.count >= total ? "All users together have at most \(total) subscriptions" : nil
  }
}
