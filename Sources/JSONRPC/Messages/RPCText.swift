/// The texts of messages that we send: each one line, without its newline.
public enum RPCText {
  /// An answer whose result is JSON text already.
  public static func response(id: RPCID, result: some Collection<UInt8>) -> [UInt8] {
    var writer = JSONWriter(reserving: result.count + 64)
    writer.write(raw: #"{"jsonrpc":"2.0","id":"#)
    writer.write(id.json)
    writer.write(raw: #","result":"#)
    writer.write(raw: result)
    writer.write(raw: "}")
    return writer.bytes
  }

  /// An answer that is an error.
  public static func response(id: RPCID, error: RPCError) -> [UInt8] {
    var writer = JSONWriter(reserving: 256)
    writer.write(raw: #"{"jsonrpc":"2.0","id":"#)
    writer.write(id.json)
    writer.write(raw: #","error":"#)
    writer.write(error.json)
    writer.write(raw: "}")
    return writer.bytes
  }

  /// The answers of a batch, joined.
  public static func batch(_ responses: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = [UInt8(ascii: "[")]
    for (index, response) in responses.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(contentsOf: response)
    }
    bytes.append(UInt8(ascii: "]"))
    return bytes
  }

  /// A notification.
  public static func notification(method: String, params: JSON) -> [UInt8] {
    JSONWriter.bytes(of: ["jsonrpc": "2.0", "method": .string(method), "params": params])
  }

  /// A request of ours.
  public static func request(id: RPCID, method: String, params: JSON) -> [UInt8] {
    JSONWriter.bytes(of: ["jsonrpc": "2.0", "id": id.json, "method": .string(method), "params": params])
  }
}
