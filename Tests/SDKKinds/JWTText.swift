import Foundation
import JSONRPC
import SDKProtocol

/// A JWT as a vendor's customer would write it. Its signature is no secret's: the daemon can't check one.
enum JWTText {
  static func make(_ claims: JSONObject, kid: String? = nil) -> Secret {
    var header: JSONObject = ["alg": "HS256", "typ": "JWT"]
    if let kid { header["kid"] = .string(kid) }
    let signature = Data(count: 32).base64EncodedString()
    return Secret(
      [part(header), part(claims), signature].joined(separator: ".")
        .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""))
  }

  private static func part(_ json: JSONObject) -> String {
    Data(JSONWriter.bytes(of: .object(json))).base64EncodedString()
  }
}
