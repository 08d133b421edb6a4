internal import JSONRPC
public import JSONRPCTransport
public import SDKProtocol

/// Connects to the socket at a path; the handler answers what the daemon asks.
public typealias DelegateConnector =
  @Sendable (_ path: String, _ onRequest: @escaping ClientConnection.RequestHandler) async throws -> any SDKConnection

extension SDKClient {
  /// Answers a question of an instance. Cancelled when the answer is needed no more.
  ///
  /// A `DelegateDenial` that it throws says no for good; with any other error the question goes to the next.
  public typealias DelegateHandler = @Sendable (DelegateQuestion) async throws -> DelegateAnswer

  /// Connects over the Unix socket, as delegates do unless told otherwise.
  public static let delegateSocket: DelegateConnector = { path, onRequest in
    try await ClientConnection.connect(path: path, onRequest: onRequest)
  }

  /// Answers for instances, before their token providers, over a connection of its own.
  ///
  /// ```swift
  /// let attachment = try await client.attach(to: [id]) { question in
  ///   .token(try await mint(for: question.user?.externalId))
  /// }
  /// try await attachment.ended()
  /// ```
  ///
  /// - Parameters:
  ///   - timeout: how long an answer may take, from 0.1 to 60 s; 10 s unless given.
  ///   - connector: makes the connection.
  /// - Throws: `SDKClientError`, or `CancellationError`.
  public func attach(
    to instances: [InstanceID], timeout: Seconds? = nil,
    connector: @escaping DelegateConnector = SDKClient.delegateSocket, answering: @escaping DelegateHandler
  ) async throws -> DelegateAttachment {
    let connection = try await link.open { path in
      try await connector(path) { method, params async throws(RPCError) in
        try await Self.answer(method, params, answering)
      }
    }
    let attachment = DelegateAttachment(connection, link)
    do {
      _ = try await connection.call(
        method: DelegateAttach.name,
        params: try JSONValueEncoder.encode(DelegateAttach.Params(instances: instances, timeout: timeout)),
        timeout: nil)
    } catch {
      throw try link.failure(error)
    }
    return attachment
  }

  private static func answer(
    _ method: String, _ params: JSON?, _ answering: DelegateHandler
  ) async throws(RPCError) -> JSON {
    guard DelegateQuestion.Name.allCases.contains(where: { $0.method == method }) else {
      throw .methodNotFound(method, nearest: nil)
    }
    do {
      let question = try JSONValueDecoder.decode(DelegateQuestion.self, from: params ?? [:])
      return try await answering(question).json()
    } catch let error as RPCError {
      throw error
    } catch is DelegateDenial {
      throw SDKError(.provider, .providerDenied, "The delegate says no.").rpcError
    } catch {
      // Its text is the app's own and stays there.
      throw SDKError(.provider, .providerFailed, "The delegate has no answer.").rpcError
    }
  }
}
