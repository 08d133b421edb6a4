import JSONRPC

/// An event on one line.
enum EventLine {
  private static let longest = 160

  /// Returns time, instance, type, and as much of the data as fits.
  static func text(of event: JSON) -> String {
    func word(_ name: String) -> String { event[name].map(MemberTable.word) ?? "-" }
    let service = event["service"]?.stringValue.map { "/\($0)" } ?? ""
    let data = short(event["data"]?.objectValue ?? [:])
    return "\(word("time"))  \(word("instance"))\(service)  \(word("type"))" + (data.isEmpty ? "" : "  \(data)")
  }

  /// Returns `key=value` pairs, without empty lists. A user or another nested object is shown as its `externalId` or `id`.
  private static func short(_ data: JSONObject) -> String {
    let pairs = data.members.filter { $0.value != [] }.map { member -> String in
      let named = ["externalId", "id"].lazy.compactMap { member.value[$0]?.stringValue }.first
      return "\(member.key)=\(named ?? MemberTable.word(member.value))"
    }
    let text = pairs.joined(separator: " ")
    return text.count > longest ? text.prefix(longest) + "…" : text
  }
}
