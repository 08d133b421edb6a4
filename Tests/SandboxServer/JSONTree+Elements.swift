@testable import SandboxServer

extension JSONTree {
  /// The elements of an array; empty for any other value.
  var elements: [JSONTree] {
    if case .array(let elements) = self { elements } else { [] }
  }
}
