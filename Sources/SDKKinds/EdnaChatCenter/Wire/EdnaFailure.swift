import Concurrency
import JSONRPC
import SDKInstances
import SDKProtocol

/// The errors for the vendor's refusals, over HTTP and in frames.
enum EdnaFailure {
  static let vendor = "edna Chat Center"

  /// Returns the error for refused or expired credentials.
  static func unauthorized(_ details: VendorText?, status: Int? = nil) -> SDKError {
    SDKError(
      .vendor, .invalidAuth,
      details?.text == "expired"
        ? "\(vendor) says that the credentials have expired; authorize again with fresh ones."
        : "\(vendor) refused the credentials; check token, scheme and signature, and authorize again.",
      httpStatus: status, vendorCode: "UNAUTHORIZED", vendorDescription: details)
  }

  /// Returns the error for an installation that does not serve this client.
  static func forbidden(_ details: VendorText?, status: Int? = nil) -> SDKError {
    SDKError(
      .vendor, .forbidden, "\(vendor) does not serve this client; check provider_uid.", httpStatus: status,
      vendorCode: "FORBIDDEN", vendorDescription: details)
  }

  /// Returns the error in a frame's data; `nil` when there is none.
  ///
  /// - Parameter sent: the secrets that were sent on the connection.
  static func refusal(in data: JSONObject, without sent: SentSecrets) -> SDKError? {
    guard let code = data["error"], !code.isNull else { return nil }
    let name = code.stringValue ?? "?"
    let details = sent.text(data["errorDetails"]?.stringValue)
    switch name {
    case "UNAUTHORIZED": return unauthorized(details)
    case "FORBIDDEN": return forbidden(details)
    default:
      return SDKError(
        .unreachable, name.hasPrefix("INTERNAL") ? .serverError : .badResponse,
        "\(vendor) did not take a frame; see its words.", vendorCode: sent.text(name), vendorDescription: details)
    }
  }

  /// Returns the body of an accepted response, or throws the error that the refusal stands for.
  static func accepted(_ response: HTTPResponseParts) throws(SDKError) -> JSON {
    switch VendorAnswer(response, vendor: vendor, setting: "rest_url") {
    case .accepted(let json): return json
    case .unauthorized(let status, _, let details): throw unauthorized(details, status: status)
    case .forbidden(_, let details): throw forbidden(details, status: 403)
    case .notFound:
      throw SDKError(.vendor, .notFound, "\(vendor) is not at this URL; check rest_url.", httpStatus: 404)
    case .unusable(let error): throw error
    }
  }

  /// Returns the error of a failed request. If the upgrade to a WebSocket was refused with 401, the credentials are
  /// wrong. With 403, the installation does not serve this client.
  static func error(_ failure: HTTPFailure) -> SDKError {
    switch failure {
    case .refused(status: 401, _): unauthorized(nil, status: 401)
    case .refused(status: 403, _): forbidden(nil, status: 403)
    default: failure.error(vendor: vendor, setting: "rest_url and ws_url")
    }
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
