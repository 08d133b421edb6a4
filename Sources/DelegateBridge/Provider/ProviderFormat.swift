/// The format of a provider's standard output (`provider.md`, the table of formats).
public enum ProviderFormat: String, Sendable, Codable, CaseIterable {
  /// Detected: output that begins with `{` is a JSON format according to its members, other output is `raw`.
  case auto
  /// The token on one line.
  case raw
  /// An answer according to the table of questions.
  case json
  /// Kubernetes' `client.authentication.k8s.io` ExecCredential.
  case execCredential = "exec-credential"
  /// google-auth's executable response.
  case googleExecutable = "google-executable"
  /// git's `key=value` lines.
  case gitCredential = "git-credential"
  /// The answer of an OAuth 2.0 token endpoint (RFC 6749, 5.1 and 5.2).
  case oauth
}
