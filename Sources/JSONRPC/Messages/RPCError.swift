/// A JSON-RPC 2.0 error. The `data` of our own errors has a `reason`, the stable name for programs.
public struct RPCError: Error, Sendable, Hashable {
  /// The number of the error, from the JSON-RPC specification or the program's own range.
  public var code: Int
  /// The text for people: what happened and what to do next.
  public var message: String
  /// The details for programs: `reason`, `retryable` and more.
  public var data: JSONObject

  /// Makes an error whose `data` has the members `reason` and `retryable`, and those of the argument `data`. The latter
  /// override members of the same name.
  public init(code: Int, reason: String, retryable: Bool = false, message: String, data: JSONObject = [:]) {
    self.code = code
    self.message = message
    var all: JSONObject = ["reason": .string(reason), "retryable": .bool(retryable)]
    for member in data.members { all[member.key] = member.value }
    self.data = all
  }

  /// The stable name of the error; empty if `data` has none.
  public var reason: String { data["reason"]?.stringValue ?? "" }

  /// Whether the same call may succeed later.
  public var isRetryable: Bool { data["retryable"]?.boolValue ?? false }

  /// The error object of a response.
  public var json: JSON {
    ["code": JSON(code), "message": .string(message), "data": .object(data)]
  }

  /// Reads the error object of a response. Returns `nil` if its code or message is missing.
  public init?(json: JSON) {
    guard let code = json["code"]?.intValue, let message = json["message"]?.stringValue else { return nil }
    self.code = code
    self.message = message
    data = json["data"]?.objectValue ?? [:]
  }
}

/// An error with a form for peers. Other errors are sent as `internalError`, without their text.
public protocol RPCErrorConvertible: Error {
  /// The error that is sent to the peer.
  var rpcError: RPCError { get }
}

extension RPCError: RPCErrorConvertible {
  public var rpcError: RPCError { self }
}

extension RPCError {
  /// Returns -32700 for text that is not JSON, -32600 for JSON beyond the limits of the parser.
  public static func unparsed(_ cause: JSONSyntaxError) -> RPCError {
    if cause.isBeyondLimits { return .invalidRequest("The message \(cause.predicate). Send a simpler one.") }
    return RPCError(
      code: -32700, reason: "parseError",
      message: "The message \(cause.predicate). Send one JSON text in UTF-8 on each line.")
  }

  /// Returns -32700: the peer speaks another protocol.
  public static func foreignProtocol(_ message: String) -> RPCError {
    RPCError(code: -32700, reason: "parseError", message: message)
  }

  /// Returns -32600: the text is JSON, but not a JSON-RPC 2.0 message.
  public static func invalidRequest(_ message: String, member: String? = nil) -> RPCError {
    RPCError(
      code: -32600, reason: "invalidRequest", message: message,
      data: member.map { ["member": .string($0)] } ?? [:])
  }

  /// Returns -32600: the message has more bytes than are accepted.
  public static func frameTooLarge(limit: Int) -> RPCError {
    RPCError(
      code: -32600, reason: "frameTooLarge",
      message: "The message is larger than \(limit) bytes. Send less in one message.")
  }

  /// Returns -32601: the method is unknown. The message names the nearest known method.
  public static func methodNotFound(_ name: String, nearest: String?) -> RPCError {
    let name = name.clipped(toUTF8: 64)
    let hint = nearest.map { "did you mean \($0)?" } ?? "rpc.discover lists the methods."
    return RPCError(
      code: -32601, reason: "methodNotFound", message: "There is no method \(name); \(hint)",
      data: nearest.map { ["hints": [.string("nearest: \($0)")]] } ?? [:])
  }

  /// Returns -32602: the params don't have the method's shape.
  ///
  /// - Parameters:
  ///   - message: the text for people.
  ///   - member: the path of the faulty member.
  ///   - nearest: the known name that is nearest to an unknown member; sent as a hint.
  public static func invalidParams(_ message: String, member: String? = nil, nearest: String? = nil) -> RPCError {
    var data: JSONObject = [:]
    if let member { data["member"] = .string(member) }
    if let nearest { data["hints"] = [.string("nearest: \(nearest)")] }
    return RPCError(code: -32602, reason: "invalidParams", message: message, data: data)
  }

  /// Returns -32602 for a violation of the method's schema.
  public static func invalidParams(_ violation: JSONSchemaViolation) -> RPCError {
    var nearest: String?
    if case .unknown(let name, _) = violation.problem { nearest = name }
    return invalidParams(
      violation.sentence, member: violation.member.isEmpty ? nil : violation.member, nearest: nearest)
  }

  /// The error -32800: the caller cancelled the request before it had any effect.
  public static let cancelled = RPCError(
    code: -32800, reason: "cancelled", message: "The request was cancelled before anything happened.")

  /// Returns -32603: a failure of this program. The journal has the cause under the same reference.
  public static func internalError(reference: String) -> RPCError {
    RPCError(
      code: -32603, reason: "internalError",
      message: "Something unexpected went wrong. The journal has more under reference \(reference).",
      data: ["reference": .string(reference)])
  }
}
