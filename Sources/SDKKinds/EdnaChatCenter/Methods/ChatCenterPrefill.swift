public import JSONRPC
public import SDKInstances
public import SDKProtocol

/// `chatCenter.prefill`: sets the text of the input field (the vendor's guide, "Prefilling the input field").
public enum ChatCenterPrefill: SDKMethod {
  public static let name = "chatCenter.prefill"
  public static let summary = "Sets the text that the input field has when the chat opens next."
  public static let documentation = """
    Given once, by the next chat that opens, also after a restart; an empty message clears it and another one replaces
    it. Without a user it waits for whoever is authorised next. deauthorizeUser clears it, and so does a logout that
    succeeds.
    """
  public static let access = MethodAccess.role(.control)
  public static let ordering = MethodOrdering.write(waits: false)
  public static let kind: KindName? = .ednaChatCenter
  public static let errors: [DeclaredError] = [.identityState, .chatCenterVendor, .unreachable]
  public static let example = MethodExample(
    ["instance": "clinic", "message": "I would like to see a doctor."])

  /// The parameters of a call.
  public struct Params: RPCValue, InstanceParams {
    /// The instance.
    public var instance: InstanceID
    /// The text; empty for none.
    public var message: String

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .required("message", .string(), "the text; empty for none"),
    ])

    /// The text to store; `nil` for an empty one.
    ///
    /// - Throws: `invalidParams` for a text that is too long for one reply.
    var checkedMessage: Secret? {
      get throws(RPCError) {
        guard JSONWriter.bytes(of: .string(message)).count <= 16_384 else {
          throw .invalidParams("The member message may have at most 16384 bytes as JSON.", member: "message")
        }
        return message.isEmpty ? nil : Secret(message)
      }
    }
  }

  public typealias Result = Empty
}
