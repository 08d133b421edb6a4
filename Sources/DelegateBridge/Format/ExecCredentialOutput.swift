import JSONRPC
import SDKProtocol

/// Kubernetes' ExecCredential, as exec plugins of client-go write it.
enum ExecCredentialOutput {
  private static let versions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]

  static func parse(_ object: JSONObject, _ question: BridgeQuestion) throws(SDKError) -> BridgeAnswer {
    guard let version = object["apiVersion"]?.stringValue, versions.contains(version),
      object["kind"]?.stringValue == "ExecCredential"
    else {
      throw .output("wrote no ExecCredential; apiVersion must be \(versions.joined(separator: " or "))")
    }
    guard let status = object["status"]?.objectValue, let token = status["token"]?.stringValue else {
      throw .output("wrote an ExecCredential without status.token; client certificates don't help here")
    }
    let expiry = status["expirationTimestamp"].flatMap { $0.isNull ? nil : $0 }
    if let expiry, expiry.stringValue.flatMap({ Timestamp($0) }) == nil {
      throw .output("wrote a status.expirationTimestamp that is no RFC 3339 time")
    }
    return try OutputFormat.answer(token: token, expiresAt: expiry, format: .execCredential, question)
  }
}
