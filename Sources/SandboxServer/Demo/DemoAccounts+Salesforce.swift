/// The connected apps of every namespace (`vendors.md` 3).
extension DemoAccounts {
  /// A connected app without a secret, whose refresh tokens stay.
  public static let salesforceClientID = "3MVG9sandbox.demo"
  /// A connected app without a secret, whose refresh tokens rotate: each is good for one refresh.
  public static let salesforceRotatingClientID = "3MVG9sandbox.rotating"
  /// A connected app with a secret, whose refresh tokens stay.
  public static let salesforceConfidentialClientID = "3MVG9sandbox.confidential"
  /// That app's secret.
  public static let salesforceClientSecret = "sandbox-demo-secret-0004-protects-nothing"
  /// The organisation in `id` URLs.
  public static let salesforceOrganizationID = "00Dsandbox00000001"
}
