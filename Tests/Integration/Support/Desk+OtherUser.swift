import JSONRPC

extension Desk {
  /// Makes a call from a process of another uid, without groups, and returns the whole response. Needs root.
  func call(asUid uid: Int, _ method: String, _ params: JSON) throws -> JSON {
    try Caller(uid: uid).call(self, method, params)
  }
}
