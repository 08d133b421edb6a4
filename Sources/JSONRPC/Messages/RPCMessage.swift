/// A request, which expects a response.
public struct RPCRequest: Sendable {
  /// The id, echoed in the response.
  public let id: RPCID
  /// The method's name.
  public let method: String
  /// The params; `nil` if they are absent, `null` or an empty array.
  public let params: JSON?
  /// The result of preparing the params off the event loop, such as decoded params; `nil` for an unprepared request.
  ///
  /// An object, because a value of any type would make each copy of a message slow.
  public var prepared: (any AnyObject & Sendable)?
}

/// A message of either direction.
public enum RPCMessage: Sendable {
  /// A request, which expects a response.
  case request(RPCRequest)
  /// A notification, which expects no response. Its id is `.null`.
  case notification(RPCRequest)
  /// The response to a request of ours.
  case response(id: RPCID, Result<JSON, RPCError>)
  /// A response with an id that breaks the rules otherwise. It is not answered, because the ids of the two directions
  /// are separate.
  case invalidResponse(id: RPCID, RPCError)
  /// JSON that is not a message: the error to answer, with the id or `.null` if the id can't be read.
  case invalid(id: RPCID, RPCError)

  /// The largest size of a method's name, in bytes.
  public static let maximumMethodBytes = 64

  /// Reads a message from a JSON value.
  public init(_ json: JSON) {
    guard let object = json.objectValue else {
      self = .invalid(id: .null, .invalidRequest("A message is a JSON object, not a \(json.typeName)."))
      return
    }
    self.init(MessageMembers(object))
  }

  init(_ members: consuming MessageMembers) {
    var id: RPCID?
    if let value = members.id {
      guard let known = RPCID(value) else {
        self = .invalid(
          id: .null, .invalidRequest("An id is a string, a number or null, not a \(value.typeName).", member: "id"))
        return
      }
      guard known.byteCount <= RPCID.maximumBytes else {
        self = .invalid(
          id: .null, .invalidRequest("An id has at most \(RPCID.maximumBytes) bytes; use a shorter one.", member: "id"))
        return
      }
      id = known
    }
    self = Self.read(members, id: id)
  }

  private static func read(_ members: MessageMembers, id: RPCID?) -> RPCMessage {
    func invalid(_ message: String, _ member: String) -> RPCMessage {
      let error = RPCError.invalidRequest(message, member: member)
      if let id, members.method == nil, members.result != nil || members.error != nil {
        return .invalidResponse(id: id, error)
      }
      return .invalid(id: id ?? .null, error)
    }
    guard members.isVersion2 else {
      return invalid("The member jsonrpc must be \"2.0\".", "jsonrpc")
    }
    if let unknown = members.unknown {
      let hint = unknown.nearest(in: MessageMembers.Name.allCases.map(\.rawValue)).map { " Did you mean \($0)?" } ?? ""
      let name = unknown.clipped(toUTF8: 64)
      return invalid("The member \(name) is not known in a message.\(hint)", name)
    }
    guard let method = members.method else { return response(members, id: id) }
    guard let name = method.stringValue else { return invalid("The member method must be a string.", "method") }
    guard name.utf8.count <= maximumMethodBytes else {
      return invalid(
        "A method's name has at most \(maximumMethodBytes) bytes; rpc.discover lists the methods.", "method")
    }
    if members.result != nil || members.error != nil {
      return invalid("A message with a method has no result and no error.", "method")
    }
    let params: JSON?
    switch members.params {
    case nil, .null?: params = nil
    case .array(let elements)? where elements.isEmpty: params = nil
    case .object?, .array?: params = members.params
    default: return invalid("The member params must be an object.", "params")
    }
    guard let id else { return .notification(RPCRequest(id: .null, method: name, params: params)) }
    return .request(RPCRequest(id: id, method: name, params: params))
  }

  private static func response(_ members: MessageMembers, id: RPCID?) -> RPCMessage {
    guard let id else {
      return .invalid(id: .null, .invalidRequest("The member method is missing.", member: "method"))
    }
    switch (members.result, members.error) {
    case (let result?, nil): return .response(id: id, .success(result))
    case (nil, let error?):
      let unreadable = RPCError(code: -32603, reason: "invalidResponse", message: "The error object can't be read.")
      return .response(id: id, .failure(RPCError(json: error) ?? unreadable))
    case (nil, nil): return .invalid(id: id, .invalidRequest("The member method is missing.", member: "method"))
    default:
      return .invalidResponse(id: id, .invalidRequest("A response has a result or an error, not both."))
    }
  }
}

/// The content of one frame, such as a line: a message, or a batch of messages.
public enum RPCFrame: Sendable {
  /// A single message.
  case single(RPCMessage)
  /// Several messages, whose responses are sent together.
  case batch([RPCMessage])

  /// The largest number of messages in a batch.
  public static let maximumBatch = 64

  /// Parses the text of a frame.
  ///
  /// - Throws: the error to answer with `id: null`.
  public init(_ bytes: ArraySlice<UInt8>) throws(RPCError) {
    var members = MessageMembers()
    let value: JSON?
    do { value = try JSONParser.parseMessage(bytes, into: &members) } catch { throw .unparsed(error) }
    let elements: [JSON]
    switch value {
    case nil:
      self = .single(RPCMessage(consume members))
      return
    case .array(let array)?: elements = array
    case let json?:
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
