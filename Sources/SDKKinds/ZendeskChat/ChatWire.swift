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
      body: PercentEncoding.form(form), timeout: common.timeout, caFile: common.caFile)
    let response: HTTPResponseParts
    do throws(HTTPFailure) {
      response = try await services.http.send(request)
    } catch {
      throw Self.failure(error, setting: "id_url")
    }
    return try ChatGrant(response, token: token, hints: hints)
  }

  /// Returns the error of a request without a complete response.
  static func failure(_ failure: HTTPFailure, setting: String) -> SDKError {
    failure.error(vendor: "Zendesk Chat", setting: setting)
  }
}
