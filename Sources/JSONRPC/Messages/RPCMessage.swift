/// A request that waits for an answer.
public struct RPCRequest: Sendable {
  /// Echoed in the answer.
  public let id: RPCID
  /// The method's name.
  public let method: String
  /// The params; `nil` when none were sent.
  public let params: JSON?

  /// A request with these parts.
  public init(id: RPCID, method: String, params: JSON?) {
    self.id = id
    self.method = method
    self.params = params
  }
}

/// One message, either way.
public enum RPCMessage: Sendable {
  /// Wants an answer.
  case request(RPCRequest)
  /// Wants none.
  case notification(method: String, params: JSON?)
  /// The answer to a request of ours.
  case response(id: RPCID, Result<JSON, RPCError>)
  /// JSON, but no message: the error to answer, with the id if one could be read.
  case invalid(id: RPCID, RPCError)

  private static let members = ["jsonrpc", "id", "method", "params", "result", "error"]

  /// Reads one message out of a JSON value.
  public init(_ json: JSON) {
    guard let object = json.objectValue else {
      self = .invalid(id: .null, .invalidRequest("A message is a JSON object, not a \(json.typeName)."))
      return
    }
    var id: RPCID?
    if let value = object["id"] {
      guard let known = RPCID(value) else {
        self = .invalid(
          id: .null, .invalidRequest("An id is a string, a number or null, not a \(value.typeName).", member: "id"))
        return
      }
      id = known
    }
    self = Self.read(object, id: id)
  }

  private static func read(_ object: JSONObject, id: RPCID?) -> RPCMessage {
    func invalid(_ message: String, _ member: String) -> RPCMessage {
      .invalid(id: id ?? .null, .invalidRequest(message, member: member))
    }
    guard object["jsonrpc"]?.stringValue == "2.0" else {
      return invalid("The member jsonrpc must be \"2.0\".", "jsonrpc")
    }
    if let unknown = object.keys.first(where: { !members.contains($0) }) {
      let hint = unknown.nearest(in: members).map { " Did you mean \($0)?" } ?? ""
      return invalid("The member \(unknown.prefix(64)) is not known in a message.\(hint)", String(unknown.prefix(64)))
    }
    guard let method = object["method"] else { return response(object, id: id) }
    guard let name = method.stringValue else { return invalid("The member method must be a string.", "method") }
    if object["result"] != nil || object["error"] != nil {
      return invalid("A message with a method has no result and no error.", "method")
    }
    let params = object["params"]
    switch params {
    case nil, .object, .array: break
    default: return invalid("The member params must be an object.", "params")
    }
    guard let id else { return .notification(method: name, params: params) }
    return .request(RPCRequest(id: id, method: name, params: params))
  }

  private static func response(_ object: JSONObject, id: RPCID?) -> RPCMessage {
    guard let id else {
      return .invalid(id: .null, .invalidRequest("The member method is missing.", member: "method"))
    }
    switch (object["result"], object["error"]) {
    case (let result?, nil): return .response(id: id, .success(result))
    case (nil, let error?):
      let unreadable = RPCError(code: -32603, reason: "invalidResponse", message: "The error object can't be read.")
      return .response(id: id, .failure(RPCError(json: error) ?? unreadable))
    case (nil, nil): return .invalid(id: id, .invalidRequest("The member method is missing.", member: "method"))
    default: return .invalid(id: id, .invalidRequest("A response has a result or an error, not both."))
    }
  }
}

/// What one line holds.
public enum RPCFrame: Sendable {
  /// One message.
  case single(RPCMessage)
  /// Several at once, answered together.
  case batch([RPCMessage])

  /// How many messages a batch may have.
  public static let maximumBatch = 64

  /// Reads a line.
  ///
  /// - Throws: the error to answer with `id: null`.
  public init(_ bytes: some Sequence<UInt8>) throws(RPCError) {
    let json: JSON
    do { json = try JSONParser.parse(bytes) } catch { throw .parseError(error) }
    guard let elements = json.arrayValue else {
      self = .single(RPCMessage(json))
      return
    }
    guard !elements.isEmpty else { throw .invalidRequest("A batch holds at least one message.") }
    guard elements.count <= Self.maximumBatch else {
      throw .invalidRequest("A batch holds at most \(Self.maximumBatch) messages, this one has \(elements.count).")
    }
    self = .batch(elements.map(RPCMessage.init))
  }
}
