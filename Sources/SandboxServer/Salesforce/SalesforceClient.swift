/// A connected app.
struct SalesforceClient: Sendable {
  /// The secret of the app; `nil` for an app without one.
  var secret: String?
  /// Whether a refresh token is valid for one refresh only.
  var rotates = false

  static let demo = [
    DemoAccounts.salesforceClientID: SalesforceClient(),
    DemoAccounts.salesforceRotatingClientID: SalesforceClient(rotates: true),
    DemoAccounts.salesforceConfidentialClientID: SalesforceClient(secret: DemoAccounts.salesforceClientSecret),
  ]
}
