public import JSONRPC

/// `delegate.invalidAuth`: a request of the daemon to an attached connection.
public enum DelegateInvalidAuth: RPCMethod {
  public static let name = "delegate.invalidAuth"
  public static let summary = "Asks for a token in place of one that the vendor refused or that has expired."
  public static let documentation = """
    As `delegate.getToken`, with the error and the number of the attempt.
    """

  public typealias Params = DelegateQuestion
  public typealias Result = DelegateTokenAnswer
}
