public import JSONRPC

/// A request of the daemon to a connection that is attached as a delegate.
public protocol DelegateRequest: RPCMethod {
  /// The params as the daemon sends them, and the answer of a delegate. A test compares them with a real question.
  static var example: MethodExample { get }
}

extension DelegateQuestion.Name {
  /// The method name of the daemon's request.
  public var method: String { "delegate.\(rawValue)" }
}
