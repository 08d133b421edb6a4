public import JSONRPC

/// `daemon.metrics`: returns the daemon's metrics as OpenMetrics text.
public enum DaemonMetrics: SDKMethod {
  public static let name = "daemon.metrics"
  public static let summary = "What this daemon has counted and how it stands, as OpenMetrics text."
  public static let documentation = """
    The whole text of OpenMetrics 1.0, which ends with "# EOF". Counters begin at zero with the process. It holds no
    ids of instances, users or peers and no secret. The reply may be larger than 60 KiB.
    """
  public static let access = MethodAccess.role(.admin)
  public static let ordering = MethodOrdering.free
  public static let needsState = false
  public static let example = MethodExample(
    result: [
      "contentType": "application/openmetrics-text; version=1.0.0; charset=utf-8",
      "text":
        "# TYPE sdkd_build info\n# HELP sdkd_build Which sdkd this is.\nsdkd_build_info{version=\"0.1.0\",api=\"1.0\"} 1\n# EOF\n",
    ])

  public typealias Params = Empty

  /// The result of `daemon.metrics`.
  public struct Result: RPCValue {
    /// The media type of the text.
    public var contentType: String
    /// The text.
    public var text: String

    /// Creates a result with these members.
    public init(contentType: String, text: String) {
      self.contentType = contentType
      self.text = text
    }

    public static let jsonSchema = JSONSchema.object([
      .required("contentType", .string(), "the media type of the text"),
      .required("text", .string(), "the text"),
    ])
  }
}
