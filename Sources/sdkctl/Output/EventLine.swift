import JSONRPC

/// An event on one line.
enum EventLine {
  private static let longest = 160

  /// Time, instance, type and what fits of the data.
  static func text(of event: JSON) -> String {
    func word(_ name: String) -> String { event[name].map(MemberTable.word) ?? "-" }
    let service = event["service"]?.stringValue.map { "/\($0)" } ?? ""
    let data = short(event["data"]?.objectValue ?? [:])
    return "\(word("time"))  \(word("instance"))\(service)  \(word("type"))" + (data.isEmpty ? "" : "  \(data)")
  }

  /// `key=value` pairs; of a user or another inner object the name it goes by.
  private static func short(_ data: JSONObject) -> String {
    let pairs = data.members.map { member -> String in
      let named = ["externalId", "id"].lazy.compactMap { member.value[$0]?.stringValue }.first
      return "\(member.key)=\(named ?? MemberTable.word(member.value))"
    }
    let text = pairs.joined(separator: " ")
    return text.count > longest ? text.prefix(longest) + "…" : text
  }
}
