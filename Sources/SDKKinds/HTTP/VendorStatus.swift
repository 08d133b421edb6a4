import JSONRPC
import SDKInstances
import SDKProtocol

/// The table of errors for responses that show nothing about the credential. All kinds share it.
///
/// An error is retryable only where waiting can help: not after a redirect, nor after a request that the vendor does
/// not take.
struct VendorStatus {
  private let response: HTTPResponseParts
  private let vendor: String
  private let setting: String
  private let words: VendorWords

  /// Creates the table for a response.
  ///
  /// - Parameter setting: the setting that holds the URL.
  init(_ response: HTTPResponseParts, vendor: String, setting: String, _ words: VendorWords? = nil) {
    self.response = response
    self.vendor = vendor
    self.setting = setting
    self.words = words ?? VendorWords(response)
  }

  /// The error of a response that is neither a success nor a refusal.
  var error: SDKError {
    let status = response.status
    switch (words.oauth, status) {
    case (.rate?, _), (_, 429):
      return error(.rateLimited, "asks for fewer requests; try again later.", retryAfter: response.retryAfter)
    case (.passing?, _), (_, 500...):
      return error(
        .serverError, "answered with status \(status); try again later.", retryAfter: response.requestedWait)
    case (.client?, _), (.refusal?, _):
      return error(.badResponse, "refused the request; see its code, and check the settings.").permanent
    case (_, 300..<400): return redirect
    case (_, 413), (_, 414), (_, 431): return tooLarge
    case (_, 400) where isTooLarge: return tooLarge
    // Pages of a network's front end among them, which come with 401 and 403.
    case (_, 401), (_, 403), (_, 408), (_, 409), (_, 423), (_, 425):
      return error(.badResponse, "answered with status \(status); try again later.")
    case (_, 400..<500):
      return error(
        .badResponse, "does not take the request (status \(status)), which waiting does not change; check \(setting)."
      ).permanent
    default: return error(.badResponse, "answered with status \(status), which is not expected; check \(setting).")
    }
  }

  /// The error of a success whose body is not JSON.
  var notJSON: SDKError {
    if let encoding = response.headers["content-encoding"], encoding.lowercased() != "identity" {
      return error(
        .badResponse,
        "answered in the content encoding \(shown(encoding)), which was not asked for; check \(setting) and what is "
          + "between the daemon and it.")
    }
    return error(.badResponse, "answered with something that is not JSON; check \(setting).")
  }

  /// The error of a refused upgrade to a WebSocket.
  var socketError: SDKError {
    var refused = error
    if refused.reason == .badResponse, !(300..<400).contains(response.status) {
      refused.message =
        "\(vendor) refused the connection with status \(response.status); check \(setting) and the URL of the socket."
    }
    return refused
  }

  private var redirect: SDKError {
    let origin = response.headers["location"].flatMap(URLRule.Origin.init)
    let place = origin.map { origin in
      let host = origin.host.contains(":") ? "[\(origin.host)]" : origin.host
      let port = origin.port == (origin.isSecure ? 443 : 80) ? "" : ":\(origin.port)"
      return "\(origin.isSecure ? "https" : "http")://\(shown(host))\(port)"
    }
    return error(
      .badResponse,
      place.map {
        "redirects to \($0) (status \(response.status)), and redirects are not followed; set \(setting) to that place."
      } ?? "answered with a redirect (status \(response.status)), and these are not followed; check \(setting)."
    ).permanent
  }

  private var tooLarge: SDKError {
    let size = response.sent.longest
    return error(
      .badResponse,
      "does not take a request of this size (status \(response.status))"
        + (size > 0 ? "; its longest credential has \(size) bytes. Make it smaller." : ". Make it smaller.")
    ).permanent
  }

  /// Whether a front end answered 400 for the size of the request, as nginx does.
  private var isTooLarge: Bool {
    String(decoding: response.body.prefix(1024), as: UTF8.self).lowercased().contains("too large")
  }

  /// Returns a header's text without white space, control characters and secrets, clipped.
  private func shown(_ text: String) -> String {
    // Masked last: without its control characters, a text may repeat a secret.
    response.sent.removed(from: String(text.clipped(toUTF8: 256).unicodeScalars.filter { $0.value > 0x20 }))
  }

  private func error(_ reason: Reason, _ sentence: String, retryAfter: Double? = nil) -> SDKError {
    SDKError(
      .unreachable, reason, "\(vendor) \(sentence)", retryAfter: retryAfter, httpStatus: response.status,
      vendorCode: words.code, vendorDescription: words.description)
  }
}
