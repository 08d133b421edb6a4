import SDKInstances
import SDKProtocol

/// The rules for URLs that the vendor supplies.
enum SuppliedURL {
  /// Whether a URL of the vendor may be used. `rule` must allow it, and a loopback URL must come from a loopback URL.
  ///
  /// - Parameter supplier: the URL that supplied it.
  static func isUsable(
    _ url: String, from supplier: String, secure: String = "https", plain: String = "http", rule: SuppliedURLRule
  ) -> Bool {
    do throws(SDKError) {
      try rule.check(url, what: "url", secure: secure, plain: plain)
      return !URLRule.isLoopback(url) || URLRule.isLoopback(supplier)
    } catch {
      return false
    }
  }

  /// Returns a URL of the vendor as the URL of a WebSocket. The vendor may write it with the scheme of HTTP, from which
  /// a connection is upgraded.
  static func socket(_ url: String) -> String {
    for (scheme, other) in [("https://", "wss://"), ("http://", "ws://")] where url.lowercased().hasPrefix(scheme) {
      return other + url.dropFirst(scheme.count)
    }
    return url
  }
}
