internal import JSONRPC
internal import JSONRPCTransport
public import SDKProtocol

extension SDKClient {
  /// A function that answers an instance's questions. Its task is cancelled when the answer is no longer needed.
  ///
  /// A thrown `DelegateDenial` refuses for good. After any other error the question goes to the next delegate or the
  /// token provider. The error itself is neither sent nor logged: a function that can fail logs why.
  public typealias DelegateHandler = @Sendable (DelegateQuestion) async throws -> DelegateAnswer

  /// Attaches a delegate, which answers for instances before their token providers. It has a connection of its own,
  /// which is reopened whenever it is lost.
  ///
  /// ```swift
  /// let attachment = try await client.attach(to: [id]) { question in
  ///   .token(try await mint(for: question.user?.externalId))
  /// }
  /// for await status in attachment.statuses { show(status) }
  /// ```
  ///
  /// The delegate answers until the attachment is detached or released.
  ///
  /// - Parameters:
  ///   - instances: the instances to answer for.
  ///   - timeout: the time limit of an answer, from 0.1 to 60 s; 10 s by default.
  ///   - answering: the function that answers each question.
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
      // The error's text belongs to the app and is not sent.
      throw SDKError(.provider, .providerFailed, "The delegate has no answer.").rpcError
    }
  }
}
