import SandboxServer

/// The long part of `--help`: the demo accounts and the control requests.
enum HelpText {
  static let discussion = """
    FOR DEVELOPMENT ONLY: its secrets are public, and it shows those it receives.
    Users are \(DemoAccounts.externalIDs.joined(separator: ", ")), or whoever else you name.

    \(accounts)

    NAMESPACES
      /ns/NAME before any path (/ns/t1/zm/…, /ns/t1/_control) is a copy with its
      own users, keys, options, scripts, clock and log. DELETE /ns/NAME forgets it.

    \(control)

    \(sockets)
    """
}

extension HelpText {
  /// The help on controlling WebSockets.
  static let sockets = """
    WEBSOCKETS (/zm/faye, /zc/mediator, /ed/ws; in a namespace as everything is)
      A script for the GET of the upgrade refuses, delays, hangs or (closeMidBody)
      drops it. Scripts for frames have a route of WS, path and event: the frame's
      action, content type, __type or Bayeux channel; without one any frame:
        curl $S/_control -d '{"route":"WS /mediator register","drop":true}'
        curl $S/_control -d '{"route":"WS /ed/ws registerDevice","drop":true}'
        curl $S/_control -d '{"route":"WS /ed/ws CLIENT_OFFLINE","close":true}'
        curl $S/_control -d '{"route":"WS /ed/ws ping","drop":true}'
        curl $S/_control -d '{"route":"WS /zm/faye /meta/subscribe",
          "reply":{"successful":false,"error":"403::Invalid JWT"}}'
      Members: route, times, delayMs, drop (no answer), reply (sent instead; ids
      are filled in), close (true cuts, a number is the close code), passThrough
      (the frame counts, only its answer is kept back). Event ping: no pong.
      Received frames are in the log, with the method WS and the socket's number:
        curl $S/_sockets               what is open, how many frames and pings came
      To all open sockets, or those that sdk, to (a user), socket and path select:
        curl $S/_push -d '{"to":"alice","frame":{"action":"getStatuses"}}'
        curl $S/_close -d '{"socket":1,"code":1001}'      without a code it is cut
      Messaging: merge two users (_id or external id) and tell the one who is gone:
        curl $S/_merge -d '{"from":"alice","to":"bob"}'
        the event: {"type":"user:merge","survivingAppUser":{"_id","userId"},
          "outgoingAppUserId","reason","sessionToken" if both are anonymous}
      edna: tokens (of everybody without clientId), and the frame UNAUTHORIZED:
        curl $S/_tokens -d '{"token":"t1","clientId":"alice","expiresIn":60}'
        curl $S/_unauthorized -d '{"clientId":"alice","details":"expired"}'
    """
}
