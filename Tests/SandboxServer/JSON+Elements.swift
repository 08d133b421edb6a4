import JSONRPC

@testable import SandboxServer

extension JSON {
  /// The elements of an array; empty for any other value.
  var elements: [JSON] {
    if case .array(let elements) = self { elements } else { [] }
  }
}
