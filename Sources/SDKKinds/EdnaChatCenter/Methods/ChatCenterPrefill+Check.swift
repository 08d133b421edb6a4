import JSONRPC
import SDKProtocol

extension ChatCenterPrefill.Params {
  /// The text to store; `nil` for an empty one.
  ///
  /// - Throws: `invalidParams` for a text that is too long for one reply.
  var checkedMessage: Secret? {
    get throws(RPCError) {
      guard JSONWriter.bytes(of: .string(message)).count <= 16_384 else {
        throw .invalidParams("The member message may have at most 16384 bytes as JSON.", member: "message")
      }
      return message.isEmpty ? nil : Secret(message)
    }
  }
}
