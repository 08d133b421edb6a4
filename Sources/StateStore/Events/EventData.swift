import JSONRPC

/// The size limit of events' data (sdkd-protocol(7)).
enum EventData {
  /// The maximum size of an event's data as JSON, in bytes.
  static let maximumBytes = 8 << 10
  /// The limits on the bytes of a text and the elements of a list, tried in this order until the data fits.
  private static let steps: [(bytes: Int, elements: Int)] = [(1024, 64), (256, 32), (64, 16), (16, 8)]

  /// Returns the data if it fits. Otherwise cuts long texts and lists and drops long keys, with the first of `steps`
  /// that suffices. Returns an empty object if none does.
  static func clipped(_ data: JSONObject) -> JSONObject {
    guard JSONWriter.bytes(of: .object(data)).count > maximumBytes else { return data }
    for step in steps {
      let cut = clipped(.object(data), step.bytes, step.elements)
      if JSONWriter.bytes(of: cut).count <= maximumBytes { return cut.objectValue ?? [:] }
    }
    return [:]
  }

  private static func clipped(_ json: JSON, _ bytes: Int, _ elements: Int) -> JSON {
    switch json {
    case .string(let text): .string(text.clipped(toUTF8: bytes))
    case .array(let array): .array(array.prefix(elements).map { clipped($0, bytes, elements) })
    case .object(let object):
      .object(
        JSONObject(
          object.members.lazy.filter { $0.key.utf8.count <= bytes }.prefix(elements).map {
            ($0.key, clipped($0.value, bytes, elements))
          }))
    case .null, .bool, .number: json
    }
  }
}
