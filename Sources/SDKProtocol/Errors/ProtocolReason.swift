public import JSONRPC

/// The stable name of an error of JSON-RPC itself, which any message can get (sdkd-protocol(7)).
public enum ProtocolReason: String, Sendable, DescribedEnumeration {
  case parseError, invalidRequest, frameTooLarge, methodNotFound, invalidParams, internalError, cancelled

  public static let jsonSchema = schema(named: "ProtocolReason")

  public var meaning: String {
    switch self {
    case .parseError: "The message is not JSON."
    case .invalidRequest:
      "The message is not a request of JSON-RPC 2.0, its id is in use, or it is beyond a limit of the parser."
    case .frameTooLarge: "The message has more bytes than are accepted. The connection ends."
    case .methodNotFound: "There is no such method."
    case .invalidParams: "A param is unknown, missing or wrong; `member` has its name."
    case .internalError: "A fault of the daemon. The call may have been run."
    case .cancelled: "The call was cancelled before anything happened."
    }
  }
}
