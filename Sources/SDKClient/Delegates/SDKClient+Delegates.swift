internal import JSONRPC
internal import JSONRPCTransport
public import SDKProtocol

extension SDKClient {
  /// Answers a question of an instance. Cancelled when the answer is needed no more.
  ///
  /// A `DelegateDenial` that it throws says no for good; with any other error the question goes to the next.
  public typealias DelegateHandler = @Sendable (DelegateQuestion) async throws -> DelegateAnswer

  /// Answers for instances, before their token providers, over a connection of its own, which is made again whenever
  /// it is lost.
  ///
  /// ```swift
  /// let attachment = try await client.attach(to: [id]) { question in
  ///   .token(try await mint(for: question.user?.externalId))
  /// }
  /// for await status in attachment.statuses { show(status) }
  /// ```
  ///
  /// It answers as long as the attachment is kept, and until it is detached.
  ///
  /// - Parameter timeout: how long an answer may take, from 0.1 to 60 s; 10 s unless given.
  /// - Throws: `SDKClientError` when the first attempt fails, or `CancellationError`.
  public func attach(
    to instances: [InstanceID], timeout: Seconds? = nil, answering: @escaping DelegateHandler
  ) async throws -> DelegateAttachment {
    let keeper = DelegateKeeper(link, DelegateAttach.Params(instances: instances, timeout: timeout)) {
      method, params async throws(RPCError) in
      try await Self.answer(method, params, answering)
    }
    try await keeper.attach()
    return DelegateAttachment(keeper)
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
