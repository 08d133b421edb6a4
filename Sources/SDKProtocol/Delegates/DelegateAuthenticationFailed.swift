public import JSONRPC

/// `delegate.authenticationFailed`: a request of the daemon to an attached connection.
public enum DelegateAuthenticationFailed: RPCMethod {
  public static let name = "delegate.authenticationFailed"
  public static let summary = "Asks whether to go on after an authentication that no refresh token helps."
  public static let documentation = """
    `salesforce.chat`. `proceed: true`: settings are asked for again; `false`: the user is a guest.
    `{"defer": true}` passes the question on.
    """

  public typealias Params = DelegateQuestion
  public typealias Result = DelegateGuestAnswer
}
