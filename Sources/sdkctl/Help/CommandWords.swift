/// The words of the command line for the methods that messages of the daemon name.
enum CommandWords {
  private static let verbs: [(method: String, command: String)] = [
    ("events.subscribe or events.list", "sdkctl events -o jsonl"),
    ("instance.list", "sdkctl list"), ("instance.get", "sdkctl show"), ("instance.create", "sdkctl create"),
    ("instance.update", "sdkctl update"), ("instance.delete", "sdkctl delete"),
    ("instance.currentUser", "sdkctl show"), ("daemon.health", "sdkctl status"), ("daemon.info", "sdkctl status"),
    ("daemon.reload", "sdkctl reload"), ("daemon.backup", "sdkctl backup"),
    ("daemon.rotateKey", "sdkctl key rotate"), ("token.get", "sdkctl token"), ("token.refresh", "sdkctl refresh"),
    ("session.open", "sdkctl open"), ("events.list", "sdkctl events"), ("events.subscribe", "sdkctl events --follow"),
    ("push.list", "sdkctl push list"), ("storage.list", "sdkctl storage list"),
    ("messaging.loginUser", "sdkctl login"), ("messaging.logoutUser", "sdkctl logout"),
    ("support.setIdentity", "sdkctl login"), ("support.clearIdentity", "sdkctl logout"),
    ("serviceChat.setAuthenticationSettings", "sdkctl login"), ("chat.setIdentity", "sdkctl login"),
    ("chat.resetIdentity", "sdkctl logout"), ("chatCenter.authorize", "sdkctl login"),
    ("chatCenter.logout", "sdkctl logout"), ("rpc.discover", "sdkctl call rpc.discover"),
  ]

  /// Returns a text with commands in place of methods.
  static func translated(_ text: String) -> String {
    guard text.contains(".") else { return text }
    var text = text
    for (method, command) in verbs where text.contains(method) {
      text = text.replacing("call \(method)", with: "run \(command)").replacing(method, with: command)
    }
    return text
  }
}
