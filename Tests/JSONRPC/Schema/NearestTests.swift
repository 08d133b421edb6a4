import JSONRPC
import Testing

struct NearestTests {
  static let methods = [
    "chatCenter.authorize", "chatCenter.deauthorizeUser", "chatCenter.logout", "delegate.attach", "delegate.detach",
    "events.list", "events.subscribe", "events.unsubscribe", "instance.delete", "instance.list", "messaging.loginUser",
    "push.register", "push.unregister", "token.get",
  ]

  @Test(
    "A hint prefers a method whose last part is the word, and never names the opposite",
    arguments: [
      ("chatCenter.deauthorize", "chatCenter.deauthorizeUser"),
      ("chatCenter.deauthorise", "chatCenter.deauthorizeUser"),
      ("chatCenter.authorise", "chatCenter.authorize"), ("loginUser", "messaging.loginUser"),
      ("messaging.login", "messaging.loginUser"), ("push.loginUser", "messaging.loginUser"),
      ("token.gett", "token.get"),
      ("delegate.deattach", "delegate.detach"), ("delegate.detatch", "delegate.detach"),
      ("delegate.atach", "delegate.attach"), ("events.unsubscribed", "events.unsubscribe"),
      ("events.subscibe", "events.subscribe"), ("push.unregistr", "push.unregister"), ("push.registr", "push.register"),
      ("event.list", "events.list"), ("instance.delet", "instance.delete"), ("nothing.like.it", nil), ("", nil),
      (".", nil),
    ] as [(String, String?)])
  func methods(_ word: String, _ expected: String?) {
    #expect(word.nearestMethod(in: Self.methods) == expected)
  }

  @Test("Without its opposite, a word has no hint")
  func opposites() {
    let only = ["push.register", "chatCenter.authorize"]
    for word in ["push.unregister", "chatCenter.deauthorize", "push.unregistr"] {
      #expect(word.nearestMethod(in: only) == nil, "\(word)")
    }
    #expect("register".nearest(in: ["unregister"]) == nil)
    // A typo in such a prefix, or in a word that only looks as if it had one, is none.
    for (word, name) in [("nregister", "unregister"), ("elete", "delete"), ("dsk", "desk")] {
      #expect(word.nearest(in: [name]) == name)
    }
  }
}
