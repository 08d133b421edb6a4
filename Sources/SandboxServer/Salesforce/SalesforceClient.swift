/// A connected app.
struct SalesforceClient: Sendable {
  /// `nil` for an app that needs none.
  var secret: String?
  /// Whether a refresh token is good for one refresh only.
  var rotates = false

  static let demo = [
    DemoAccounts.salesforceClientID: SalesforceClient(),
    DemoAccounts.salesforceRotatingClientID: SalesforceClient(rotates: true),
    DemoAccounts.salesforceConfidentialClientID: SalesforceClient(secret: DemoAccounts.salesforceClientSecret),
  ]
}
