/// The connected apps of every namespace (`vendors.md` 3).
extension DemoAccounts {
  /// The client id of a connected app without a secret, whose refresh tokens do not rotate.
  public static let salesforceClientID = "3MVG9sandbox.demo"
  /// The client id of a connected app without a secret, whose refresh tokens rotate: each is valid for one refresh.
  public static let salesforceRotatingClientID = "3MVG9sandbox.rotating"
  /// The client id of a connected app with a secret, whose refresh tokens do not rotate.
  public static let salesforceConfidentialClientID = "3MVG9sandbox.confidential"
  /// The secret of that app.
  public static let salesforceClientSecret = "sandbox-demo-secret-0004-protects-nothing"
  /// The id of the organisation in `id` URLs.
  public static let salesforceOrganizationID = "00Dsandbox00000001"
}
