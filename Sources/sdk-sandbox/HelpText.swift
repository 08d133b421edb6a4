import SandboxServer

/// The long part of `--help`: the demo accounts and how to command a running sandbox.
enum HelpText {
  static let discussion = """
    FOR DEVELOPMENT ONLY: its secrets are public, and it shows those it receives.

    MESSAGING (base_url http://127.0.0.1:PORT/zm)
      app id          \(DemoAccounts.appID)
      integration id  \(DemoAccounts.integrationID)
      settings_url    …/zm/settings/\(DemoAccounts.integrationID).json
      channel_key     see channelKey in GET /_state
      users           \(DemoAccounts.externalIDs.joined(separator: ", ")), or any other external_id
      signing keys    kid and secret:
    \(keys)

    NAMESPACES
      /ns/NAME before any path (/ns/t1/zm/…, /ns/t1/_control) is a copy with its
      own users, keys, scripts, clock and log. DELETE /ns/NAME forgets it.

    CONTROL (S=http://127.0.0.1:PORT)
      The next responses of a route; * is one segment, ** at the end any number:
        curl $S/_control -d '{"route":"POST /v2/apps/*/login","status":401}'
      Members: route, method, times (a number or "forever"), status, body,
      headers, contentType, delayMs, closeMidBody, hang, passThrough. Scripts of
      a route queue. An error status without a body gets the vendor's own; "" is
      an empty one. passThrough delays, does the real thing, then may add headers,
      cut the response or hang.
        curl $S/_control -d '{"route":"/zm/**","hang":true,"times":"forever"}'
        curl $S/_control               what is pending, how many requests are held
        curl -X DELETE $S/_control     clear, and let go what is held
      What was received; count and waitMs wait for it:
        curl "$S/_log?since=0&count=1&waitMs=5000"
        curl -X DELETE $S/_log
      Time (it goes on ticking):
        curl $S/_clock -d '{"offsetSeconds":3600}'
        curl $S/_clock -d '{"now":1800000000}'
      Signing keys; a null secret removes one:
        curl $S/_keys -d '{"kid":"app_new","secret":"another-secret"}'
      Refuse every token that a user has so far:
        curl $S/_revoke -d '{"externalId":"alice"}'
      Users, clients, sessions; DELETE starts afresh:
        curl $S/_state
        curl -X DELETE $S/_state
    """

  private static var keys: String {
    DemoAccounts.keys.sorted { $0.key < $1.key }
      .map { "    \($0.key)  \($0.value)" }.joined(separator: "\n")
  }
}
