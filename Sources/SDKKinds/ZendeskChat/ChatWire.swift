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
    var form = [("account_key", settings.accountKey), ("token", token.reveal())]
    if let state { form.append(("state", state.reveal())) }
    let common = settings.common
    let request = HTTPRequestParts(
      instance: services.instance, method: "POST", url: "\(settings.idURL)/authenticated/web/jwt",
      headers: [
        (name: "Accept", value: "application/json"),
        (name: "Content-Type", value: "application/x-www-form-urlencoded"),
      ],
      body: Array(Self.encoded(form).utf8), timeout: common.timeout, caFile: common.caFile)
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

  /// A form as `application/x-www-form-urlencoded`.
  static func encoded(_ form: [(name: String, value: String)]) -> String {
    form.map { "\(escaped($0.name))=\(escaped($0.value))" }.joined(separator: "&")
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      default: escaped += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return escaped
  }
}
