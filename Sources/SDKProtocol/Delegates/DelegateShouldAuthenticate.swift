public import JSONRPC

/// `delegate.shouldAuthenticate`: a request of the daemon to an attached connection.
public enum DelegateShouldAuthenticate: RPCMethod {
  public static let name = "delegate.shouldAuthenticate"
  public static let summary = "Asks whether a service without settings is to be authenticated."
  public static let documentation = """
    `salesforce.chat`. `authenticate: false`: the user is a guest; `true`: with the settings, if they are given.
    `{"defer": true}` passes the question on.
    """

  public typealias Params = DelegateQuestion
  public typealias Result = DelegateServiceAnswer
}
