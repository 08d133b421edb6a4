internal import JSONRPC
internal import NIOCore

extension ByteBuffer {
  /// Writes an answer without building its text elsewhere first: a token is copied once on its way out.
  mutating func writeResponse(id: RPCID, _ result: Result<[UInt8], RPCError>) {
    switch result {
    case .success(let result):
      reserveCapacity(minimumWritableBytes: result.count + 64)
      writeStaticString(#"{"jsonrpc":"2.0","id":"#)
      writeID(id)
      writeStaticString(#","result":"#)
      writeBytes(result)
      writeStaticString("}")
    case .failure(let error):
      writeBytes(RPCText.response(id: id, error: error))
    }
  }

  private mutating func writeID(_ id: RPCID) {
    switch id {
    case .number(let number): writeString(number.text)
    case .null: writeStaticString("null")
    case .string: writeBytes(JSONWriter.bytes(of: id.json))
    }
  }
}
