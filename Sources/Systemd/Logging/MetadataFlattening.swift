import Logging

/// The conversion of metadata of any depth and size into a short sorted list of texts.
enum MetadataFlattening {
  private static let maximumDepth = 4
  private static let maximumKeyLength = 128

  static func flatten(_ metadata: Logger.Metadata) -> [(key: String, value: String)] {
    guard !metadata.isEmpty else { return [] }
    var pairs: [(key: String, value: String)] = []
    collect(metadata, path: "", depth: 0, into: &pairs)
    var room = LogRecord.maximumMetadataLength
    return pairs.prefix { pair in
      room -= pair.key.utf8.count + pair.value.utf8.count
      return room >= 0
    }
  }

  private static func collect(
    _ metadata: Logger.Metadata, path: String, depth: Int, into pairs: inout [(key: String, value: String)]
  ) {
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      guard pairs.count < LogRecord.maximumMetadataCount else { return }
      let name = (path.isEmpty ? key : "\(path).\(key)").cut(at: maximumKeyLength)
      if case .dictionary(let inner) = value, depth < maximumDepth {
        collect(inner, path: name, depth: depth + 1, into: &pairs)
      } else {
        pairs.append((name, value.description.cut(at: LogRecord.maximumValueLength)))
      }
    }
  }
}
