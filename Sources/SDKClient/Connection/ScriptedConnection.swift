internal import Glibc
public import JSONRPC
public import JSONRPCTransport
internal import Synchronization

/// A connection without a daemon, for the tests of programs that use this client.
///
/// ```swift
/// let client = SDKClient(connector: { _ in
///   ScriptedConnection { method, params in ["token": "t", …] }
/// })
/// ```
public final class ScriptedConnection: SDKConnection {
  /// Answers a call; an `RPCError` that it throws is the daemon's.
  public typealias Answer = @Sendable (_ method: String, _ params: JSON) async throws -> JSON

  public let serverUid: UInt32
  public let notifications: AsyncThrowingStream<ServerNotification, any Error>
  private let continuation: AsyncThrowingStream<ServerNotification, any Error>.Continuation
  private let answer: Answer
  private let hasEnded = Atomic(false)

  /// A connection whose calls `answer` answers. Its server runs as `serverUid`, by default the caller's own user.
  public init(serverUid: UInt32? = nil, answer: @escaping Answer) {
    self.serverUid = serverUid ?? geteuid()
    self.answer = answer
    (notifications, continuation) = AsyncThrowingStream.makeStream()
  }

  public var isClosed: Bool { hasEnded.load(ordering: .acquiring) }

  public func call(method: String, params: JSON?, timeout: Duration?) async throws -> JSON {
    guard !isClosed else { throw ClientConnectionError.closed }
    return try await answer(method, params ?? [:])
  }

  /// Sends a notification to the client.
  public func notify(method: String, params: JSON) {
    continuation.yield(ServerNotification(method: method, params: params))
  }

  /// Ends the connection, from either side.
  public func close() {
    hasEnded.store(true, ordering: .releasing)
    continuation.finish()
  }
}
