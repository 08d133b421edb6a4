import JSONRPC

extension Desk {
  /// A call by a process of another uid, without groups; the answer's whole object. Needs root.
  func call(asUid uid: Int, _ method: String, _ params: JSON) throws -> JSON {
    try Caller(uid: uid).call(self, method, params)
  }
}
