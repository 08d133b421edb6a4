import Testing

@testable import SDKInstances

struct ExchangeLogTests {
  @Test(
    "A logged URL has the words of its path, and nothing that may be an id or a secret",
    arguments: [
      (
        "https://acme.zendesk.com/v2/apps/5f00/appusers/a1b2/logout",
        "https://acme.zendesk.com/v2/apps/*/appusers/*/logout"
      ),
      ("https://acme.test/services/oauth2/token", "https://acme.test/services/oauth2/token"),
      ("https://acme.test/services/data/v58.0/me.json?token=secret", "https://acme.test/services/data/v58.0/me.json"),
      ("https://user:secret@acme.test:8443/login#secret", "https://acme.test:8443/login"),
      ("https://acme.test?token=secret", "https://acme.test"),
      ("https://acme.test", "https://acme.test"),
      ("https://acme.test/", "https://acme.test/"),
      ("https://acme.test/eyJhbGciOi.eyJzdWIi.c2lnbmF0", "https://acme.test/*"),
      ("https://acme.test/\(String(repeating: "a", count: 33))/vsecret", "https://acme.test/*/*"),
      ("https://acme.test/a%2Fb/a@b/\u{E9}", "https://acme.test/*/*/*"),
      (
        "https://acme.test/api/mobile/push_notification_devices/kiosk-front-desk.json",
        "https://acme.test/api/mobile/push_notification_devices/*"
      ),
      ("https://acme.test/appusers/alice", "https://acme.test/appusers/*"),
      ("wss://acme.test/faye", "wss://acme.test/faye"),
      ("secret", "*"), ("", "*"),
    ])
  func shown(url: String, expected: String) { #expect(ExchangeLog.shown(url) == expected) }
}
