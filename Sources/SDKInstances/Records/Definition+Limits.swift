public import JSONRPC
import SDKProtocol

extension Definition {
  /// The maximum number of labels.
  public static let maximumLabels = 64
  /// The maximum size of a definition as JSON, in bytes, so that an `Instance` fits into a reply.
  public static let maximumBytes = 40 * 1024

  /// The path of a member that exceeds its limit, with a sentence for the error; `nil` if no member does.
  public var excess: (member: String, sentence: String)? {
    let areLabelsShort = labels.allSatisfy {
      (1...63).contains($0.key.utf8.count) && $0.value.utf8.count <= 255
    }
    guard labels.count <= Self.maximumLabels, areLabelsShort else {
      return (
        "labels",
        "An instance has at most \(Self.maximumLabels) labels, with names of 1 to 63 and values of up to 255 bytes."
      )
    }
    let parts: [(member: String, json: JSON?)] = [
      ("settings", .object(settings)), ("provider", provider.map(JSON.object)),
      ("access", try? JSONValueEncoder.encode(access)), ("labels", try? JSONValueEncoder.encode(labels)),
    ]
    let sizes = parts.map { part in (part.member, part.json.map { JSONWriter.bytes(of: $0).count } ?? 0) }
    let sum = sizes.reduce(0) { $0 + $1.1 }
    guard sum > Self.maximumBytes, let largest = sizes.max(by: { $0.1 < $1.1 }) else { return nil }
    return (
      largest.0,
      "The definition of the instance has \(sum) bytes; settings, provider, access and labels have at most "
        + "\(Self.maximumBytes) together."
    )
  }

  /// Checks the definition's limits.
  ///
  /// - Throws: `invalidParams` with the member.
  public func checkLimits() throws(RPCError) {
    if let excess { throw .invalidParams(excess.sentence, member: excess.member) }
  }
}
