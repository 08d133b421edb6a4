import SDKProtocol

/// A part of a phone SDK's API, with what takes its place here.
struct SDKCall: Hashable {
  /// The kind of the SDK.
  let kind: String
  /// The names, as the SDK spells them.
  let names: [String]
  /// The methods, and the questions to delegates, that do the same; none if nothing does.
  let methods: [String]
  /// The events that report the outcome.
  var events: [EventType] = []
  /// The difference that a developer of an app meets.
  let difference: String

  /// The words by which it is found: each name, and its last part without the arguments.
  var words: [String] {
    names.flatMap { name -> [String] in
      let bare = String(name.prefix { $0 != "(" })
      return [name, bare, bare.split(separator: ".").last.map(String.init) ?? bare]
    }
  }

  /// All calls, by kind.
  static let all = messaging + support + salesforce + chat + edna

  private static let messaging: [SDKCall] = [
    .init(
      kind: "zendesk.messaging", names: ["Zendesk.initialize(withChannelKey:)"], methods: ["instance.create"],
      events: [.instanceCreated],
      difference: "An instance outlives the program. It is created once, by this call or by a file in instances.d."),
    .init(
      kind: "zendesk.messaging", names: ["Zendesk.invalidate()"], methods: ["instance.delete"],
      events: [.instanceDeleted],
      difference:
        "Destroys all that the instance stores. The user stays signed in at the vendor, unless `logout` is set."),
    .init(
      kind: "zendesk.messaging", names: ["loginUser(with:)"], methods: ["messaging.loginUser"],
      events: [.userLoggedIn, .userMerged, .authenticationFailed],
      difference: """
        A login that fails keeps the present user. A newer login or a logout ends an older one with `superseded`.
        """),
    .init(
      kind: "zendesk.messaging", names: ["logoutUser(_:)"], methods: ["messaging.logoutUser"],
      events: [.userLoggedOut, .identityWiped],
      difference: """
        `backendInformed` tells whether the vendor knows. If the vendor can't be reached, the user stays; `localOnly` \
        forgets them here anyway. A login that follows waits.
        """),
    .init(
      kind: "zendesk.messaging", names: ["getCurrentUser()", "authenticationType"],
      methods: ["messaging.getCurrentUser", "instance.currentUser"],
      difference: "In the state `reauthNeeded` the ids stay and `authenticated` is false."),
    .init(
      kind: "zendesk.messaging",
      names: ["Zendesk.authenticationDelegate", "AuthenticationDelegate", "onInvalidAuth(_:)"],
      methods: ["delegate.attach", "delegate.invalidAuth", "delegate.getToken"],
      events: [.tokenRefreshed, .refreshFailed, .authenticationFailed],
      difference: """
        A delegate belongs to instances, and answers within 10 s or the `timeout` of `delegate.attach`. It is also asked \
        before the token expires. A token provider can take its place. After attaching, the first question can take some \
        seconds; `session.open` asks at once.
        """),
    .init(
      kind: "zendesk.messaging", names: ["addEventObserver(_:_:)", "addEventListener(_:)", "ZendeskEvent"],
      methods: ["events.subscribe", "events.list"],
      difference: "Events are stored. With the cursor of the last one, a program misses none while it does not run."),
    .init(
      kind: "zendesk.messaging",
      names: ["PushNotifications.updatePushNotificationToken(_:)"], methods: ["push.register"],
      events: [.pushRegistered, .pushUnregistered],
      difference: """
        The device's token needs a user here: without one the call fails with `notAuthenticated`. Register it again after \
        each login of another user.
        """),
    .init(
      kind: "zendesk.messaging", names: ["messagingViewController()", "showMessaging(_:)"], methods: ["session.open"],
      events: [.anonymousUserCreated],
      difference: "Gives your program what it needs to show the conversation. `visible` tells whether it may."),
  ]

  private static let support: [SDKCall] = [
    .init(
      kind: "zendesk.support",
      names: ["setIdentity(_:)", "Identity.createAnonymous(name:email:)", "Identity.createJwt(token:)"],
      methods: ["support.setIdentity"], events: [.identityChanged, .identityWiped],
      difference: """
        `identity` is `{"type": "anonymous", "name", "email"}` or `{"type": "jwt", "token"}`. The call asks the vendor and \
        can fail; then the former identity stays. Without `token`, a delegate or token provider supplies the unique id.
        """),
    .init(
      kind: "zendesk.support", names: ["Zendesk.instance?.identity", "identity"], methods: ["support.getIdentity"],
      difference: "The unique id is a secret and not returned. `support.clearIdentity` has no counterpart in the SDK."),
    .init(
      kind: "zendesk.support",
      names: ["ZDKPushProvider.register(deviceIdentifier:locale:completion:)", "ZDKPushProvider"],
      methods: ["push.register", "push.unregister"], events: [.pushRegistered, .pushUnregistered],
      difference: "The device needs an identity: without one the call fails with `noIdentity`."),
  ]

  private static let salesforce: [SDKCall] = [
    .init(
      kind: "salesforce.chat",
      names: ["setAuthenticationSettings(_:forServiceType:completion:)", "SCSAuthenticationSettings"],
      methods: ["serviceChat.setAuthenticationSettings"], events: [.settingsUpdated, .identityWiped],
      difference: """
        The settings of another user wipe what was stored for the former one; `identityUrl` tells whose they are. `null` \
        signs out. `account` takes the Mobile SDK's account.
        """),
    .init(
      kind: "salesforce.chat",
      names: ["serviceCloud(_:shouldAuthenticateServiceType:completion:)", "shouldAuthenticateServiceType"],
      methods: ["delegate.attach", "delegate.shouldAuthenticate"],
      difference: """
        One answer takes the place of the Bool and the completion: `{"authenticate": true, "settings": {…}}`. With \
        `{"authenticate": false}`, or without settings, the service is opened as a guest. A person has 10 minutes, and the \
        answer counts after the caller has left.
        """),
    .init(
      kind: "salesforce.chat",
      names: ["serviceCloud(_:authenticationFailed:forServiceType:)", "authenticationFailed"],
      methods: ["delegate.attach", "delegate.authenticationFailed"], events: [.authenticationFailed],
      difference: """
        The answer is `{"proceed": true}` or `{"proceed": false}`. A refresh token is tried before the question.
        """),
    .init(
      kind: "salesforce.chat", names: ["registerForPushNotifications"],
      methods: ["serviceChat.registerForPushNotifications", "push.register"], events: [.pushRegistered],
      difference: "A service needs a user and has one registration: a new one replaces the former."),
  ]

  private static let chat: [SDKCall] = [
    .init(
      kind: "zendesk.chat", names: ["Chat.instance?.setIdentity(authenticator:)", "JWTAuthenticator", "getToken(_:)"],
      methods: ["chat.setIdentity", "delegate.attach", "delegate.getToken"],
      events: [.identityChanged, .userLoggedIn, .fellBackToAnonymous],
      difference: """
        Nothing is sent before the first `session.open` or `token.get`. A `jwt` in the call is used once; then the delegate \
        or token provider is asked.
        """),
    .init(
      kind: "zendesk.chat", names: ["resetIdentity(_:)"], methods: ["chat.resetIdentity"],
      events: [.userLoggedOut, .identityWiped],
      difference: "The reply takes the place of the completion: the visitor is gone then."),
    .init(
      kind: "zendesk.chat", names: ["Chat.NotificationAuthenticationFailed", "AuthenticationError"],
      methods: ["events.subscribe"], events: [.authenticationFailed, .fellBackToAnonymous],
      difference: "An event. It names the reason and never contains the token."),
    .init(
      kind: "zendesk.chat", names: ["Chat.registerPushToken(_:)", "registerPushTokenString(_:)"], methods: [],
      difference: """
        The vendor has no public contract for it: `push.register` fails with `wrongKind`. Register with the vendor's app.
        """),
  ]

  private static let edna: [SDKCall] = [
    .init(
      kind: "edna.chatcenter", names: ["authorize(user:auth:)", "ChatUser", "ChatAuth"],
      methods: ["chatCenter.authorize"],
      events: [.userLoggedIn, .authenticationFailed, .networkError],
      difference: """
        The reply comes at once with an `operation`, and an event with it has the outcome; with `wait` the reply has it. If \
        the login fails, call it again: it is not repeated.
        """),
    .init(
      kind: "edna.chatcenter", names: ["didReceiveNetwork(error:)"], methods: ["events.subscribe"],
      events: [.networkError],
      difference: "An event, with the operation that has failed."),
    .init(
      kind: "edna.chatcenter", names: ["logout()"], methods: ["chatCenter.logout"],
      events: [.userLoggedOut, .logoutFailed, .identityWiped],
      difference: "Where the SDK is silent, `logoutFailed` reports a logout that failed. The user stays then."),
    .init(
      kind: "edna.chatcenter", names: ["deauthorizeUser()"], methods: ["chatCenter.deauthorizeUser"],
      events: [.userLoggedOut, .identityWiped, .pushOrphaned],
      difference: "The vendor goes on sending push messages, and `push.list` lists the registration as orphaned."),
    .init(
      kind: "edna.chatcenter", names: ["updateData(data:)"], methods: ["chatCenter.updateData"],
      difference: "The data is stored, and survives the end of your program until a chat opens."),
    .init(
      kind: "edna.chatcenter", names: ["prefill(message:)"], methods: ["chatCenter.prefill"],
      difference: "The text is stored until the next chat opens, also across a restart."),
    .init(
      kind: "edna.chatcenter", names: ["getChat()"], methods: ["chatCenter.getChat", "session.open"],
      difference: "Gives your program what it needs to show the chat, instead of a screen."),
  ]
}
