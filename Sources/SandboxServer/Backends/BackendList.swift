/// Every SDK that the sandbox stands in for. A new one is a folder and a line here.
enum BackendList {
  static let all: [any SandboxBackend.Type] = [
    MessagingBackend.self,
    EdnaBackend.self,
    SupportBackend.self,
    SalesforceBackend.self,
    ChatBackend.self,
  ]

  /// A fresh backend of each, by its path prefix.
  static func fresh() -> [String: any SandboxBackend] {
    var backends: [String: any SandboxBackend] = [:]
    for backend in all { backends[backend.prefix] = backend.init() }
    return backends
  }
}
