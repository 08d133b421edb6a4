import JSONRPC
import SDKProtocol

/// An audit record that was read back from the journal or a log.
struct AuditEntry: Hashable {
  /// The time at which it was written; `nil` in text without times.
  var time: Timestamp?
  /// The type of the record, which may be a word that this version does not know.
  var record: String
  /// The sentence for people.
  var message: String
  /// The other fields.
  var fields: [AuditField: String]

  /// Reads an entry of `journalctl -o json`; `nil` when it is not an audit record.
  init?(journal object: JSONObject) {
    guard object[AuditRecord.journalSign].flatMap(Self.text) == "1" else { return nil }
    var fields: [AuditField: String] = [:]
    for field in AuditField.allCases { fields[field] = object[field.journalName].flatMap(Self.text) }
    record = fields.removeValue(forKey: .record) ?? "?"
    self.fields = fields
    message = object["MESSAGE"].flatMap(Self.text) ?? ""
    let microseconds = object["__REALTIME_TIMESTAMP"].flatMap(Self.text).flatMap(Double.init)
    time = microseconds.map { Timestamp(secondsSince1970: ($0 / 1000).rounded(.down) / 1000) }
  }

  /// Reads a line of the log on standard error; `nil` when it is not an audit record.
  init?(line: String) {
    guard let parsed = LogLine(line), let sign = parsed.pairs.first, sign.key == AuditRecord.sign,
      sign.value.utf8.elementsEqual("1".utf8)
    else { return nil }
    let pairs = parsed.pairs.compactMap { pair in AuditField(rawValue: pair.key).map { ($0, pair.value) } }
    var fields = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    guard let record = fields.removeValue(forKey: .record) else { return nil }
    self.record = record
    self.fields = fields
    message = parsed.message
    time = parsed.time
  }

  /// Returns the text of a field. journald writes unprintable text as an array of bytes, and a repeated field as an
  /// array of texts, of which the first is taken.
  private static func text(_ value: JSON) -> String? {
    if let text = value.stringValue { return text }
    guard let elements = value.arrayValue else { return nil }
    if let first = elements.first?.stringValue { return first }
    return String(decoding: elements.compactMap { $0.intValue.flatMap(UInt8.init(exactly:)) }, as: UTF8.self)
  }

  /// The record as JSON for scripts.
  var json: JSON {
    var object = JSONObject()
    object["time"] = time.map { .string($0.description) }
    object["record"] = .string(record)
    var peer = JSONObject()
    for field in AuditField.allCases {
      guard let text = fields[field] else { continue }
      switch field {
      case .peerUID: peer["uid"] = Self.number(text)
      case .peerPID: peer["pid"] = Self.number(text)
      case .peerExe: peer["exe"] = .string(text)
      case .peerUnit: peer["unit"] = .string(text)
      case .peerUserUnit: peer["userUnit"] = .string(text)
      case .count, .ownerUID, .duration: object[field.rawValue] = Self.number(text)
      default: object[field.rawValue] = .string(text)
      }
    }
    if !peer.isEmpty { object["peer"] = .object(peer) }
    object["message"] = .string(message)
    return .object(object)
  }

  private static func number(_ text: String) -> JSON {
    if let whole = Int(text) { return JSON(whole) }
    return Double(text).map { JSON($0) } ?? .string(text)
  }

  /// The names of the parts of a line.
  static let header = "TIME  RECORD  CALLER  WHAT  INSTANCE  OUTCOME  DETAILS"

  /// Returns the record on one line: time, type, caller, action, instance, outcome and details.
  ///
  /// - Parameters:
  ///   - format: formats the time.
  ///   - name: returns the user name of a uid, if it has one.
  func line(time format: (Timestamp) -> String = \.description, name: (_ uid: String) -> String?) -> String {
    let peer = fields[.peerUID].map { uid in
      let unit = (fields[.peerUnit] ?? fields[.peerUserUnit]).map { "(\($0))" }
      return ["uid \(uid)", name(uid), fields[.peerExe], unit].compactMap(\.self).joined(separator: " ")
    }
    let what = fields[.method] ?? fields[.event] ?? fields[.provider] ?? "-"
    let service = fields[.service].map { "/\($0)" } ?? ""
    let details = [AuditField.tokenId, .cause, .backup, .changed, .rules, .user, .exit, .count].compactMap { field in
      fields[field].map { "\(field.rawValue)=\($0)" }
    }
    return
      ([
        time.map(format) ?? "-", record, peer ?? "sdkd", what, (fields[.instance] ?? "-") + service,
        fields[.outcome] ?? "-",
      ] + (details.isEmpty ? [] : [details.joined(separator: " ")])).joined(separator: "  ")
  }
}
