import SDKInstances
import SDKProtocol

/// URLs that the vendor supplies.
enum SuppliedURL {
  /// Whether a URL of the vendor's may be used: one that `rule` allows, and to this machine only from this machine.
  ///
  /// - Parameter supplier: the URL of whoever supplied it.
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

  /// A URL of the vendor's as one of a WebSocket: it may be written as one of HTTP, from which it is upgraded.
  static func socket(_ url: String) -> String {
    for (scheme, other) in [("https://", "wss://"), ("http://", "ws://")] where url.lowercased().hasPrefix(scheme) {
      return other + url.dropFirst(scheme.count)
    }
    return url
  }
}
