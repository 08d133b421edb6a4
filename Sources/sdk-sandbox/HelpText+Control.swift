extension HelpText {
  /// The help on controlling a running sandbox.
  static let control = """
    CONTROL (S=http://127.0.0.1:PORT; SDK is \(prefixes))
      The next responses of a route; * is one segment, ** at the end any number:
        curl $S/_control -d '{"route":"POST /v2/apps/*/login","status":401}'
      Members: route, method, times (a number or "forever"), status, body,
      headers, contentType, delayMs, closeMidBody, hang, passThrough. Scripts of
      a route queue. An error status without a body gets the vendor's own; "" is
      an empty one. passThrough delays, does the real thing, then may add headers,
      cut the response or hang.
        curl $S/_control -d '{"route":"/zm/**","hang":true,"times":"forever"}'
        curl $S/_control -d '{"route":"/access/sdk/jwt","status":409,"times":2}'
      Rotate the refresh token, then lose the answer:
        curl $S/_control -d '{"route":"/services/oauth2/token","passThrough":true,
                              "closeMidBody":true}'
      An error that nobody knows:
        curl $S/_control -d '{"route":"/authenticated/web/jwt",
                              "body":{"success":false,"error":"new"}}'
        curl $S/_control               what is pending, how many requests are held
        curl -X DELETE $S/_control     clear, and let go what is held
      What was received; count and waitMs wait for it:
        curl "$S/_log?since=0&count=1&waitMs=5000"
        curl -X DELETE $S/_log
      Time (it goes on ticking):
        curl $S/_clock -d '{"offsetSeconds":3600}'
        curl $S/_clock -d '{"now":1800000000}'
      Keys and accounts; sdk is zm unless given:
        curl $S/_keys
    \(keys)
      A null secret:
    \(nullSecrets)
      Refuse every token that a user has so far; for sf, kind (access or refresh)
      leaves those of the other:
        curl $S/_revoke -d '{"externalId":"alice"}'
        curl $S/_revoke -d '{"sdk":"sf","externalId":"alice","kind":"access"}'
      Behaviour; null is the default again:
        curl $S/_options
        curl $S/_options -d '{"sdk":"zs","customer":"down"}'
    \(options)
    \(ownControl)
      Users, clients, sessions; DELETE starts afresh:
        curl $S/_state
        curl -X DELETE $S/_state
    """
}
