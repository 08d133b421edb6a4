import JSONRPC
import SDKProtocol

/// The access token that the vendor issues for an identity: `{"authentication":{"access_token","user_id"}}`
///.
struct SupportAccess {
  let token: Secret
  let userId: String

  /// Reads the response to an exchange.
  ///
  /// - Throws: `agentNotAllowed` for 403, which is never tried again; `invalidAuth` with the hints for 401;
  ///   `badResponse` for a response without a usable token or user id.
  init(_ answer: VendorAnswer, type: SupportIdentity.Authentication, hints: [String]) throws(SDKError) {
    if case .forbidden(let code, let description) = answer {
      throw SDKError(
        .vendor, .agentNotAllowed,
        "Zendesk Support refuses agents here; set the identity of an end user instead.", httpStatus: 403,
        vendorCode: code, vendorDescription: description, hints: hints)
    }
    if case .unauthorized(let status, let code, let description) = answer {
      throw SDKError(
        .vendor, .invalidAuth,
        type == .jwt
          ? "Zendesk Support refused the unique id; the customer's JWT endpoint must know it and answer a form with a JWT."
          : "Zendesk Support refused the anonymous identity; check client_id and the account's authentication.",
        httpStatus: status, vendorCode: code, vendorDescription: description, hints: hints)
    }
    let access = try Self.accept(answer)["authentication"]
    guard let token = access?["access_token"]?.stringValue, (1...8192).contains(token.utf8.count),
      token.utf8.allSatisfy(Self.isVisible), OpaqueText.mistake(Secret(token)) == nil
    else {
      throw SDKError(.unreachable, .badResponse, "Zendesk Support answered the exchange without an access token.")
    }
    guard let userId = access?["user_id"].flatMap(Self.id) else {
      throw SDKError(.unreachable, .badResponse, "Zendesk Support answered the exchange without a usable user_id.")
    }
    self.token = Secret(token)
    self.userId = userId
  }

  /// Returns the body of an accepted request, or throws the error that the refusal stands for.
  @discardableResult
  static func accept(_ answer: VendorAnswer) throws(SDKError) -> JSON {
    switch answer {
    case .accepted(let json): return json
    case .unauthorized(let status, let code, let description):
      throw SDKError(
        .vendor, .invalidAuth, "Zendesk Support refused the access token; refresh it or set the identity again.",
        httpStatus: status, vendorCode: code, vendorDescription: description)
    case .forbidden(let code, let description):
      throw SDKError(
        .vendor, .forbidden, "Zendesk Support does not let this user do that; check the account's settings.",
        httpStatus: 403, vendorCode: code, vendorDescription: description)
    case .notFound:
      throw SDKError(.vendor, .notFound, "Zendesk Support knows no such thing; check base_url.", httpStatus: 404)
    case .unusable(let error): throw error
    }
  }

  /// Returns an id of the vendor, which is a positive whole number or digits as text; `nil` for anything else.
  static func id(_ value: JSON) -> String? {
    if let number = value.intValue { return number > 0 ? String(number) : nil }
    guard let text = value.stringValue, (1...20).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return text
  }

  /// Whether a token may contain the byte, so that it can be sent in a header.
  private static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }
}
