import JSONRPC
import SDKProtocol

extension EdnaChatUser {
  /// Checks the sizes of name and attributes. `EdnaIdentifier` checks the identifier.
  func check() throws(RPCError) {
    if let name, !TextLimits.isName(name) {
      throw .invalidParams("The member user.name may have at most \(TextLimits.name) bytes.", member: "user.name")
    }
    if let data { try EdnaChatUser.check(data, member: "user.data") }
  }

  /// Checks that attributes have at most 16384 bytes as JSON, so that they fit into one reply.
  static func check(_ data: [String: String], member: String) throws(RPCError) {
    guard JSONWriter.bytes(of: EdnaState.attributes(data)).count <= 16_384 else {
      throw .invalidParams("The member \(member) may have at most 16384 bytes as JSON.", member: member)
    }
  }
}
