public import JSONRPC

/// `token.reject`: reports that the vendor refused a token.
public enum TokenReject: SDKMethod {
  public static let name = "token.reject"
  public static let summary = "Tells that the vendor refused a token."
  public static let documentation = """
    The app saw the vendor refuse this token. It is given to nobody any more, and one probe or refresh
    follows, at most one in `refresh.min_interval`. It alone never logs out, wipes or locks. A `tokenId` that
    is not current is ignored.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.read
  public static let errors: [DeclaredError] = [.identityState]
  public static let example = MethodExample(
    ["instance": "front-desk", "tokenId": "8a2fb96f60ae4a73", "status": 401])

  /// The params of `token.reject`.
  public struct Params: RPCValue {
    /// The instance.
    public var instance: InstanceID
    /// The service, for kinds that have several.
    public var service: String?
    /// The refused token's id.
    public var tokenId: TokenID
    /// The vendor's HTTP status.
    public var status: Int?
    /// The vendor's error code.
    public var code: String?
    /// The vendor's error description.
    public var description: String?

    /// Creates params with these members.
    public init(
      instance: InstanceID, service: String? = nil, tokenId: TokenID, status: Int? = nil, code: String? = nil,
      description: String? = nil
    ) {
      self.instance = instance
      self.service = service
      self.tokenId = tokenId
      self.status = status
      self.code = code
      self.description = description
    }

    public static let jsonSchema = JSONSchema.object([
      .required("instance", InstanceID.jsonSchema, "the instance"),
      .required("tokenId", TokenID.jsonSchema, "the refused token's id"),
      .optional("service", .string(), "the service, for kinds that have several"),
      .optional("status", .integer(), "the vendor's HTTP status"),
      .optional("code", .string(), "the vendor's code"),
      .optional("description", .string(), "the vendor's words"),
    ])
  }

  public typealias Result = Empty
}
