import SDKClient
import SDKProtocol
import Testing

/// The information about an error that lets an app react to it.
struct ErrorTests {
  private static func refusal(_ origin: SDKError.Origin, _ reason: Reason, retryAfter: Double? = nil) -> SDKClientError
  {
    .rpc(SDKError(origin, reason, "No.", retryAfter: retryAfter).rpcError)
  }

  @Test func `The daemon's reason as an enumeration`() {
    #expect(Self.refusal(.state, .reauthNeeded).refusal == .reauthNeeded)
    #expect(SDKClientError.rpc(RPCError(code: -1, reason: "ofLater", message: "?")).refusal == nil)
    #expect(SDKClientError.closed.refusal == nil)
  }

  @Test func `Whether and when to try again`() {
    let limit = Self.refusal(.limit, .rateLimit, retryAfter: 1.5)
    #expect(limit.isRetryable)
    #expect(limit.retryAfter == .seconds(1.5))
    #expect(!Self.refusal(.access, .accessDenied).isRetryable)
    #expect(Self.refusal(.access, .accessDenied).retryAfter == nil)
    for hostile in [-1, 1e300, Double.infinity] {
      let error = RPCError(code: 1, reason: "x", message: "", data: ["retryAfter": JSON(hostile)])
      #expect(SDKClientError.rpc(error).retryAfter.map { $0 <= .seconds(86_400) } ?? true)
    }
    #expect(SDKClientError.noDaemon(path: "/s").isRetryable)
    #expect(!SDKClientError.outcomeUnknown(method: "m", .timeout).isRetryable)
  }

  @Test func `Only an unknown outcome can be done twice`() {
    #expect(SDKClientError.outcomeUnknown(method: "m", .connectionEnded).mayHaveRun)
    for error in [SDKClientError.closed, .timeout, .tooManyCalls(limit: 1), Self.refusal(.limit, .shuttingDown)] {
      #expect(!error.mayHaveRun)
    }
    #expect(SDKClientError.outcomeUnknown(method: "storage.put", .timeout).description.contains("storage.put"))
  }
}
