/// A reply to one Bayeux message, with the message's channel, id, client id and subscription.
struct BayeuxReply {
  var members: [String: JSONTree]

  init(to message: JSONTree, _ more: [String: JSONTree] = [:]) {
    members = more
    members["channel"] = message["channel"] ?? .null
    members["successful"] = true
    for name in ["id", "clientId", "subscription"] where members[name] == nil { members[name] = message[name] }
  }

  /// Returns an error reply. `error` has Bayeux's form `code:arguments:text`.
  static func failed(_ message: JSONTree, _ error: String, advice: JSONTree? = nil) -> JSONTree {
    var reply = BayeuxReply(to: message, ["error": .string(error)])
    reply.members["successful"] = false
    reply.members["advice"] = advice
    return reply.tree
  }

  var tree: JSONTree { .object(members) }
}
