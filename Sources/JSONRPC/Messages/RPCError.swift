/// An error as JSON-RPC 2.0 has it. Its `data` always has a `reason`: the stable name to program against.
public struct RPCError: Error, Sendable, Hashable {
  /// The number of the error, from the specification or from the program's own range.
  public var code: Int
  /// One sentence: what happened and what to do next.
  public var message: String
  /// What a program can use: `reason`, `retryable` and more.
  public var data: JSONObject

  /// An error with a reason.
  public init(code: Int, reason: String, retryable: Bool = false, message: String, data: JSONObject = [:]) {
    self.code = code
    self.message = message
    var all: JSONObject = ["reason": .string(reason), "retryable": .bool(retryable)]
    for member in data.members { all[member.key] = member.value }
    self.data = all
  }

  /// The stable name of what went wrong.
  public var reason: String { data["reason"]?.stringValue ?? "" }

  /// Whether the same call may succeed later.
  public var isRetryable: Bool { data["retryable"]?.boolValue ?? false }

  /// The error object of a response.
  public var json: JSON {
    ["code": JSON(code), "message": .string(message), "data": .object(data)]
  }

  /// The error that a response's error object describes; `nil` if it is none.
  public init?(json: JSON) {
    guard let code = json["code"]?.intValue, let message = json["message"]?.stringValue else { return nil }
    self.code = code
    self.message = message
    data = json["data"]?.objectValue ?? [:]
  }
}

/// An error that knows how it is said to a peer. Any other error leaves as `internalError`, without its text.
public protocol RPCErrorConvertible: Error {
  /// What the peer is told.
  var rpcError: RPCError { get }
}

extension RPCError: RPCErrorConvertible {
  public var rpcError: RPCError { self }
}

extension RPCError {
  /// -32700 for text that is not JSON, -32600 for JSON beyond the limits of the parser.
  public static func unparsed(_ cause: JSONSyntaxError) -> RPCError {
    if cause.isBeyondLimits { return .invalidRequest("The message \(cause.predicate). Send a simpler one.") }
    return RPCError(
      code: -32700, reason: "parseError",
      message: "The message \(cause.predicate). Send one JSON text in UTF-8 on each line.")
  }

  /// -32600: JSON, but no JSON-RPC 2.0 message.
  public static func invalidRequest(_ message: String, member: String? = nil) -> RPCError {
    RPCError(
      code: -32600, reason: "invalidRequest", message: message,
      data: member.map { ["member": .string($0)] } ?? [:])
  }

  /// -32600: more bytes in one message than are taken.
  public static func frameTooLarge(limit: Int) -> RPCError {
    RPCError(
      code: -32600, reason: "frameTooLarge",
      message: "The message is larger than \(limit) bytes. Send less in one message.")
  }

  /// -32601: no such method; the nearest known one is named.
  public static func methodNotFound(_ name: String, nearest: String?) -> RPCError {
    let name = name.clipped(toUTF8: 64)
    let hint = nearest.map { "did you mean \($0)?" } ?? "rpc.discover lists the methods."
    return RPCError(
      code: -32601, reason: "methodNotFound", message: "There is no method \(name); \(hint)",
      data: nearest.map { ["hints": [.string("nearest: \($0)")]] } ?? [:])
  }

  /// -32602: the params are not of the method's shape.
  public static func invalidParams(_ message: String, member: String? = nil, nearest: String? = nil) -> RPCError {
    var data: JSONObject = [:]
    if let member { data["member"] = .string(member) }
    if let nearest { data["hints"] = [.string("nearest: \(nearest)")] }
    return RPCError(code: -32602, reason: "invalidParams", message: message, data: data)
  }

  /// -32602 from a violation of the method's schema.
  public static func invalidParams(_ violation: JSONSchemaViolation) -> RPCError {
    var nearest: String?
    if case .unknown(let name) = violation.problem { nearest = name }
    return invalidParams(
      violation.sentence, member: violation.member.isEmpty ? nil : violation.member, nearest: nearest)
  }

  /// -32800: the caller took the request back, and nothing happened.
  public static let cancelled = RPCError(
    code: -32800, reason: "cancelled", message: "The request was cancelled before anything happened.")

  /// -32603: our fault; the journal has the same reference with the cause.
  public static func internalError(reference: String) -> RPCError {
    RPCError(
      code: -32603, reason: "internalError",
      message: "Something unexpected went wrong. The journal has more under reference \(reference).",
      data: ["reference": .string(reference)])
  }
}
