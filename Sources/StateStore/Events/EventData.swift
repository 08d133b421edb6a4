import JSONRPC

/// The bound of events' data (`protocol.md`, "Shapes").
enum EventData {
  /// The size of an event's data as JSON.
  static let maximumBytes = 8 << 10
  /// The lengths that texts are cut to, and the counts that lists are, until the data fits.
  private static let steps: [(bytes: Int, elements: Int)] = [(1024, 64), (256, 32), (64, 16), (16, 8)]

  /// Returns the data if it fits, else the same with its longest texts and lists cut, and at last nothing.
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
