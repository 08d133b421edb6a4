/// The encoding of outgoing messages as JSON text. Each text is one line in UTF-8, without its newline.
public enum RPCText {
  /// Returns a response whose result is JSON text already.
  public static func response(id: RPCID, result: some Collection<UInt8>) -> [UInt8] {
    var writer = JSONWriter(reserving: result.count + 64)
    writer.write(raw: #"{"jsonrpc":"2.0","id":"#)
    writer.write(id.json)
    writer.write(raw: #","result":"#)
    writer.write(raw: result)
    writer.write(raw: "}")
    return writer.bytes
  }

  /// Returns a response with an error.
  public static func response(id: RPCID, error: RPCError) -> [UInt8] {
    var writer = JSONWriter(reserving: 256)
    writer.write(raw: #"{"jsonrpc":"2.0","id":"#)
    writer.write(id.json)
    writer.write(raw: #","error":"#)
    writer.write(error.json)
    writer.write(raw: "}")
    return writer.bytes
  }

  /// Returns the responses of a batch, joined into one array.
  public static func batch(_ responses: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = [UInt8(ascii: "[")]
    for (index, response) in responses.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(contentsOf: response)
    }
    bytes.append(UInt8(ascii: "]"))
    return bytes
  }

  /// Returns a notification.
  public static func notification(method: String, params: JSON) -> [UInt8] {
    JSONWriter.bytes(of: ["jsonrpc": "2.0", "method": .string(method), "params": params])
  }

  /// Returns a request.
  public static func request(id: RPCID, method: String, params: JSON) -> [UInt8] {
    JSONWriter.bytes(of: ["jsonrpc": "2.0", "id": id.json, "method": .string(method), "params": params])
  }
}
