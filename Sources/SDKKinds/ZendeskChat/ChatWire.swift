import JSONRPC
import SDKInstances
import SDKProtocol

/// The exchange of a JWT for an id token.
struct ChatWire: Sendable {
  let settings: ChatSettings
  let services: AdapterServices

  /// Exchanges a JWT for an id token.
  ///
  /// - Parameter state: the state that the last exchange returned.
  /// - Throws: the vendor's refusal; the errors of an unreachable vendor.
  func exchange(_ token: Secret, state: Secret?, hints: [String]) async throws(SDKError) -> ChatGrant {
    var form = [(name: "account_key", value: Secret(settings.accountKey)), (name: "token", value: token)]
    if let state { form.append((name: "state", value: state)) }
    let common = settings.common
    let request = HTTPRequestParts(
      instance: services.instance, method: "POST", url: "\(settings.idURL)/authenticated/web/jwt",
      headers: [
        (name: "Accept", value: "application/json"),
        (name: "Content-Type", value: "application/x-www-form-urlencoded"),
      ],
      body: PercentEncoding.form(form), secrets: [token] + (state.map { [$0] } ?? []), timeout: common.timeout,
      caFile: common.caFile, isRepeatable: true)
    let response: HTTPResponseParts
    do throws(HTTPFailure) {
      response = try await services.send(request)
    } catch {
      throw Self.failure(error, setting: "id_url")
    }
    return try ChatGrant(response, hints: hints)
  }

  /// Returns the error of a request without a complete response.
  static func failure(_ failure: HTTPFailure, setting: String) -> SDKError {
    failure.error(vendor: "Zendesk Chat", setting: setting)
  }
}

/// The id token that the vendor issues for a JWT.
struct ChatGrant {
  let idToken: Secret
  /// The opaque state to send with the next exchange; `nil` when the vendor returned none.
  let state: Secret?
  /// The lifetime in seconds; `nil` when the vendor does not state one.
  let expiresIn: Double?

  private static let vendor = "Zendesk Chat"

  /// Reads the response to the exchange. The body decides, as in the vendor's own SDK. The status decides only if the
  /// body has no known content.
  ///
  /// - Parameter hints: the lint's findings, which are added to a refusal.
  /// - Throws: the vendor's refusal with its words; the errors of an unreachable vendor.
  init(_ response: HTTPResponseParts, hints: [String]) throws(SDKError) {
    let body = try? JSONParser.parse(response.body, .server)
    if body?["success"]?.boolValue == true {
      guard let idToken = body?["id_token"]?.stringValue, (1...TextLimits.token).contains(idToken.utf8.count),
        OpaqueText.mistake(Secret(idToken)) == nil
      else {
        throw Self.bad("accepted the JWT, but its answer has no usable id_token; try again later.", response)
      }
      let state = body?["state"]?.stringValue
      guard (state?.utf8.count ?? 0) <= TextLimits.token else {
        throw Self.bad("accepted the JWT, but its answer has a state that is too long; try again later.", response)
      }
      let seconds = Self.seconds(body?["expires_in"])
      if let seconds, seconds <= 0 {
        throw Self.bad("gave an id token that has ended already; try again later.", response)
      }
      self.idToken = Secret(idToken)
      self.state = state.map { Secret($0) }
      expiresIn = seconds
      return
    }
    guard let words = body?["error"]?.stringValue else {
      let status = VendorStatus(response, vendor: Self.vendor, setting: "id_url")
      throw (200..<300).contains(response.status) ? status.notJSON : status.error
    }
    let details = body?["details"].flatMap(Self.text)
    throw Self.refusal(words, details, response, hints: hints)
  }

  /// Returns the error for a refusal. `words` is the member `error` of the vendor's response, `details` its
  /// explanation.
  private static func refusal(
    _ words: String, _ details: String?, _ response: HTTPResponseParts, hints: [String]
  ) -> SDKError {
    func refused(_ reason: Reason, _ sentence: String, _ more: [String] = []) -> SDKError {
      let wait: Double? =
        switch reason {
        case .rateLimited: response.retryAfter
        case .serverError: response.requestedWait
        default: nil
        }
      return SDKError(
        reason == .serverError || reason == .rateLimited ? .unreachable : .vendor, reason, "\(vendor) \(sentence)",
        retryAfter: wait, httpStatus: response.status, vendorCode: response.sent.text(words),
        vendorDescription: response.sent.text(details), hints: hints + more)
    }
    switch words {
    case "account key not found": return refused(.invalidAccountKey, "knows no such account; check account_key.")
    case "token not found": return refused(.invalidAccessToken, "found no JWT in the request; supply another one.")
    case "error fetching shared secret":
      return refused(
        .invalidSharedSecret, "has no shared secret for the account; make one in its settings.", [secretHint])
    case "external ID has changed":
      return refused(
        .externalUserIdHasChanged, "knows this visitor by another external_id; call chat.resetIdentity first.")
    case "internal server error": return refused(.serverError, "has an internal error; try again later.")
    case "failed to validate claims" where details?.contains("email is invalid") == true:
      return refused(.invalidEmail, "refused the JWT's email; it must be an address.")
    case "failed to validate claims" where details?.contains("name should be set") == true:
      return refused(.invalidName, "refused the JWT for its name; it must not be empty.")
    case "failed to validate claims" where details?.contains("jwt token has expired") == true:
      return refused(.tokenHasExpired, "says that the JWT has expired; supply a new one and check the clocks.")
    case _ where response.status == 429: return refused(.rateLimited, "asks for fewer requests; try again later.")
    case _ where response.status >= 500:
      return refused(.serverError, "answered with status \(response.status); try again later.")
    default:
      var more: [String] = []
      let said = (words + " " + (details ?? "")).lowercased()
      if said.contains("signature") { more.append(secretHint) }
      if said.contains("iat") { more.append("iat: the clocks of the JWT's maker and of the vendor may differ") }
      return refused(.invalidAccessToken, "refused the JWT; check its signature and its claims.", more)
    }
  }

  static let secretHint =
    "secret: if the account's shared secret was regenerated, sign with the new one; up to 5 minutes can pass until it counts"

  private static func bad(_ sentence: String, _ response: HTTPResponseParts) -> SDKError {
    SDKError(.unreachable, .badResponse, "\(vendor) \(sentence)", httpStatus: response.status)
  }

  /// Returns a number of seconds, which some servers send as a text.
  private static func seconds(_ value: JSON?) -> Double? {
    guard let seconds = value?.doubleValue ?? value?.stringValue.flatMap(Double.init), seconds.isFinite else {
      return nil
    }
    return seconds
  }

  /// Returns the details as one text. The vendor sends a text or a list of texts.
  private static func text(_ details: JSON) -> String? {
    details.stringValue ?? details.arrayValue?.compactMap(\.stringValue).joined(separator: ", ")
  }
}
