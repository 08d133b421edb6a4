/// The backends of all SDKs that the sandbox imitates. To add one, add a folder and a line here.
enum BackendList {
  static let all: [any SandboxBackend.Type] = [
    MessagingBackend.self,
    EdnaBackend.self,
    SupportBackend.self,
    SalesforceBackend.self,
    ChatBackend.self,
    InAppBackend.self,
  ]

  /// Returns a new backend of each type, by path prefix.
  static func fresh() -> [String: any SandboxBackend] {
    var backends: [String: any SandboxBackend] = [:]
    for backend in all { backends[backend.prefix] = backend.init() }
    return backends
  }
}
