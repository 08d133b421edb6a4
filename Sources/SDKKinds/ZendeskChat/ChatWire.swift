import JSONRPC
import SDKInstances
import SDKProtocol

/// The exchange of a JWT for an id token (`vendors.md` 4.1 and 9.4).
struct ChatWire: Sendable {
  let settings: ChatSettings
  let services: AdapterServices

  /// Shows a JWT to the vendor.
  ///
  /// - Parameter state: what the last exchange gave to be sent with this one.
  /// - Throws: the vendor's refusal; the reasons of an unreachable vendor.
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

  /// A failure to get a whole answer, in the contract's words.
  static func failure(_ failure: HTTPFailure, setting: String) -> SDKError {
    let vendor = "Zendesk Chat"
    return switch failure {
    case .network(let why):
      SDKError(.unreachable, .network, "\(vendor) can't be reached (\(why)); check the network and \(setting).")
    case .timeout: SDKError(.unreachable, .timeout, "\(vendor) did not answer in time; try again later.")
    case .tooLarge: SDKError(.unreachable, .badResponse, "\(vendor) answered with more than we take; check \(setting).")
    case .refused(let status):
      SDKError(
        .unreachable, status == 429 ? .rateLimited : status >= 500 ? .serverError : .badResponse,
        "\(vendor) refused the connection with status \(status); check \(setting).", httpStatus: status)
    }
  }
}
