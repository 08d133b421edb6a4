/// How a provider's standard output is read (`provider.md`, the table of formats).
public enum ProviderFormat: String, Sendable, Codable, CaseIterable {
  /// One of the JSON forms by its members when `{` comes first, else `raw`.
  case auto
  /// The token on one line.
  case raw
  /// An answer of the table of questions.
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
