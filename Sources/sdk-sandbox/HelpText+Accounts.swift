import SandboxServer

extension HelpText {
  /// The accounts of a new namespace, SDK by SDK.
  static let accounts = """
    MESSAGING (base_url http://127.0.0.1:PORT/zm)
      app id          \(DemoAccounts.appID)
      integration id  \(DemoAccounts.integrationID)
      settings_url    …/zm/settings/\(DemoAccounts.integrationID).json
      channel_key     see channelKey in GET /_state
      tokens          sdk-sandbox mint --external-id alice
      signing keys    kid and secret:
    \(keys)

    SUPPORT (base_url http://127.0.0.1:PORT/zs)
      app_id and client_id of the app whose users come with a unique id (jwt):
        \(DemoAccounts.supportAppID)
        \(DemoAccounts.supportClientID)
      and of the app whose users are anonymous:
        \(DemoAccounts.supportAnonymousAppID)
        \(DemoAccounts.supportAnonymousClientID)
      secret          \(DemoAccounts.supportSecret)
      unique ids      NAME or NAME:anything is user NAME, NAME@\(DemoAccounts.mailDomain);
                      \(DemoAccounts.supportAgent) is an agent (403), \(DemoAccounts.supportStranger) is unknown to the customer

    SALESFORCE (instance_url and login_url http://127.0.0.1:PORT/sf)
      client_id       \(DemoAccounts.salesforceClientID)
      with rotation   \(DemoAccounts.salesforceRotatingClientID)
      with a secret   \(DemoAccounts.salesforceConfidentialClientID)
                      \(DemoAccounts.salesforceClientSecret)
      tokens          curl $S/_grant -d '{"user":"alice"}'

    CHAT (id_url http://127.0.0.1:PORT/zc)
      mediator_url    ws://127.0.0.1:PORT/zc/mediator
      account_key     \(DemoAccounts.chatAccountKey)
      shared secret   \(DemoAccounts.chatSecret)
      without secret  \(DemoAccounts.chatAccountKeyWithoutSecret)
      tokens          sdk-sandbox mint --sdk chat --external-id alice

    IN-APP (base_url http://127.0.0.1:PORT/sm)
      org_id          \(DemoAccounts.inAppOrganizationID)
      developer_name  \(DemoAccounts.inAppDeployment)
      guests only     \(DemoAccounts.inAppGuestDeployment)
      tokens          sdk-sandbox mint --sdk salesforce.messaging --sub alice
      keyset          see GET /_keys; issuer \(DemoAccounts.inAppIssuer)
    """

  private static var keys: String {
    DemoAccounts.keys.sorted { $0.key < $1.key }
      .map { "    \($0.key)  \($0.value)" }.joined(separator: "\n")
  }
}
