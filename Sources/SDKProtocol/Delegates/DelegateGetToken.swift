public import JSONRPC

/// `delegate.getToken`: a request of the daemon to an attached connection.
public enum DelegateGetToken: RPCMethod {
  public static let name = "delegate.getToken"
  public static let summary = "Asks for a token."
  public static let documentation = """
    Nothing was refused: there is no token yet, it ends soon, or a caller wants one that lives longer. A delegate
    answers with what the kind takes (messaging and chat `token`, support `uniqueId`, edna `token`, `scheme`,
    `signature`, `isEncrypted`), or with `{"defer": true}` to pass the question on. Error -32040 with the reason
    `providerDenied` says no for good; any other error passes the question on.
    """

  public typealias Params = DelegateQuestion
  public typealias Result = DelegateTokenAnswer
}
