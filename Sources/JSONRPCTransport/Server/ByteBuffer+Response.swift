internal import JSONRPC
internal import NIOCore

extension ByteBuffer {
  /// Writes a response directly into the buffer, so that the result, such as a token, is copied only once.
  mutating func writeResponse(id: RPCID, _ result: Result<[UInt8], RPCError>) {
    switch result {
    case .success(let result):
      reserveCapacity(minimumWritableBytes: result.count + 64)
      writeStaticString(#"{"jsonrpc":"2.0","id":"#)
      writeID(id)
      writeStaticString(#","result":"#)
      writeBytes(result)
      writeInteger(UInt8(ascii: "}"))
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
