import Concurrency
import JSONRPC
import SDKInstances
import SDKProtocol

/// The errors for the vendor's refusals, over HTTP and in frames.
enum EdnaFailure {
  static let vendor = "edna Chat Center"

  /// Returns the error for refused or expired credentials.
  static func unauthorized(_ details: String?, status: Int? = nil) -> SDKError {
    SDKError(
      .vendor, .invalidAuth,
      details == "expired"
        ? "\(vendor) says that the credentials have expired; authorize again with fresh ones."
        : "\(vendor) refused the credentials; check token, scheme and signature, and authorize again.",
      httpStatus: status, vendorCode: "UNAUTHORIZED", vendorDescription: details)
  }

  /// Returns the error for an installation that does not serve this client.
  static func forbidden(_ details: String?, status: Int? = nil) -> SDKError {
    SDKError(
      .vendor, .forbidden, "\(vendor) does not serve this client; check provider_uid.", httpStatus: status,
      vendorCode: "FORBIDDEN", vendorDescription: details)
  }

  /// Returns the error in a frame's data; `nil` when there is none.
  static func refusal(in data: JSONObject) -> SDKError? {
    guard let code = data["error"], !code.isNull else { return nil }
    let name = code.stringValue ?? "?"
    let details = data["errorDetails"]?.stringValue
    switch name {
    case "UNAUTHORIZED": return unauthorized(details)
    case "FORBIDDEN": return forbidden(details)
    default:
      return SDKError(
        .unreachable, name.hasPrefix("INTERNAL") ? .serverError : .badResponse,
        "\(vendor) did not take a frame; see its words.", vendorCode: name, vendorDescription: details)
    }
  }

  /// Returns the body of an accepted response, or throws the error that the refusal stands for.
  static func accepted(_ response: HTTPResponseParts) throws(SDKError) -> JSON {
    let details = (try? JSONParser.parse(response.body, .server))?["errorDetails"]?.stringValue
    switch VendorAnswer(response, vendor: vendor) {
    case .accepted(let json): return json
    case .unauthorized: throw unauthorized(details, status: 401)
    case .forbidden: throw forbidden(details, status: 403)
    case .notFound:
      throw SDKError(.vendor, .notFound, "\(vendor) is not at this URL; check rest_url.", httpStatus: 404)
    case .unusable(let error): throw own(error, setting: "rest_url")
    }
  }

  /// Returns the error of a failed request. If the upgrade to a WebSocket was refused with 401, the credentials are
  /// wrong. With 403, the installation does not serve this client.
  static func error(_ failure: HTTPFailure) -> SDKError {
    switch failure {
    case .refused(status: 401): unauthorized(nil, status: 401)
    case .refused(status: 403): forbidden(nil, status: 403)
    default: own(failure.error(vendor: vendor), setting: "rest_url and ws_url")
    }
  }

  /// Returns an error whose message names `setting` instead of `base_url`.
  private static func own(_ error: SDKError, setting: String) -> SDKError {
    var error = error
    error.message = error.message.replacing("base_url", with: setting)
    return error
  }

  /// Runs `work`, and cancels it after `seconds`, which are limited to 600.
  ///
  /// - Throws: `timeout`; the `SDKError` of `work`; `network` for any other error.
  static func within<T: Sendable>(
    _ seconds: Double, _ work: @escaping @Sendable @concurrent () async throws -> T
  ) async throws(SDKError) -> T {
    do {
      return try await withTimeout(.seconds(min(max(seconds, 0), 600)), work)
    } catch let error as SDKError {
      throw error
    } catch is TimeoutError {
      throw SDKError(.unreachable, .timeout, "\(vendor) did not acknowledge a frame in time; try again later.")
    } catch {
      throw SDKError(.unreachable, .network, "The work at the vendor was given up; try again.")
    }
  }

  /// The error of a socket that the vendor closed.
  static var closed: SDKError {
    SDKError(.unreachable, .network, "\(vendor) closed the connection; it is opened again.")
  }
}
