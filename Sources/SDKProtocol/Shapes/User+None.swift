extension User {
  /// The value for an instance without a user.
  public static let none = User(authenticationType: .unauthenticated, authenticated: false, verified: false)
}
