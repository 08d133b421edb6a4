import JSONRPC
import SDKProtocol

/// A setting of `sdkd.toml`: everything that is known of it. The check, the messages, the file in the package, the manual
/// page, `daemon.info` and the metric of limits follow from it. `Values` is what the setting is read into.
struct Setting<Values: SettingValues>: Sendable {
  typealias Member<Value> = any (WritableKeyPath<Values, Value> & Sendable)
  /// Reads the value at a path. A value that is missing or invalid changes nothing.
  typealias Reading = @Sendable (_ reader: ValueReader, _ path: String, _ values: inout Values) -> Void

  /// The key in its table.
  var name: String
  /// The schema of the value.
  var schema: JSONSchema
  /// The meaning of the setting.
  var summary: String
  /// The default as TOML; an example for a setting without a default.
  var sample: String
  /// Whether the sample is the default.
  var isDefault = true
  /// Whether a drop-in sets single members of the value, a table. Otherwise it replaces the value.
  var isMerged = false
  /// Reads the value.
  var read: Reading
  /// The value as a number: a count, bytes or seconds. `nil` for a setting of another form.
  var number: (@Sendable (Values) -> Double)?
  /// Whether it is a limit, which `sdkd_limit` shows.
  var isLimit = false
}

/// The values of settings. New ones are the defaults.
protocol SettingValues: Sendable {
  init()
}

/// A table of `sdkd.toml`.
struct SettingTable<Values: SettingValues>: Sendable {
  /// The name of the table in brackets.
  var name: String
  /// The subject of the table.
  var summary: String
  /// The settings of the table, arrays of tables last.
  var settings: [Setting<Values>]
  /// Checks what no setting can check by itself, and completes defaults that depend on other settings.
  var complete: @Sendable (_ reader: ValueReader, _ values: inout Values) -> Void = { _, _ in }

  /// The schema of the table.
  var schema: JSONSchema { .object(settings.map { .optional($0.name, $0.schema, $0.summary) }) }
}

extension SettingTable {
  /// Returns the table for values that have those of this table as a member.
  func of<Whole: SettingValues>(
    _ member: any (WritableKeyPath<Whole, Values> & Sendable)
  ) -> SettingTable<Whole> {
    SettingTable<Whole>(name: name, summary: summary, settings: settings.map { $0.of(member) }) { [complete] in
      complete($0, &$1[keyPath: member])
    }
  }
}

extension Setting {
  fileprivate func of<Whole>(_ member: any (WritableKeyPath<Whole, Values> & Sendable)) -> Setting<Whole> {
    var whole = Setting<Whole>(
      name: name, schema: schema, summary: summary, sample: sample, isDefault: isDefault, isMerged: isMerged,
      read: { [read] reader, path, values in read(reader, path, &values[keyPath: member]) })
    whole.isLimit = isLimit
    if let number { whole.number = { number($0[keyPath: member]) } }
    return whole
  }
}

// MARK: - Settings with a range

extension Setting {
  /// Declares a whole number.
  static func integer(
    _ name: String, _ member: Member<Int>, _ range: ClosedRange<Int>, _ summary: String
  ) -> Self {
    Self(
      name: name, schema: .integer(minimum: range.lowerBound, maximum: range.upperBound), summary: summary,
      sample: "\(Values()[keyPath: member])",
      read: { reader, path, values in
        if let value = reader.integer(at: path, range) { values[keyPath: member] = value }
      }, number: { Double($0[keyPath: member]) })
  }

  /// Declares a number of bytes.
  static func bytes(
    _ name: String, _ member: Member<Int>, _ range: ClosedRange<ByteCount>, _ summary: String
  ) -> Self {
    let words = "from \(range.lowerBound.text) to \(range.upperBound.text)"
    return Self(
      name: name, schema: ByteCount.jsonSchema, summary: summary,
      sample: "\"\(ByteCount(Values()[keyPath: member])?.text ?? "")\"",
      read: { reader, path, values in
        let value = reader.value(ByteCount.self, at: path) { range.contains($0) ? nil : "This must be \(words)." }
        if let value { values[keyPath: member] = value.bytes }
      }, number: { Double($0[keyPath: member]) })
  }

  /// Declares a duration.
  ///
  /// - Parameters:
  ///   - range: the range, in seconds.
  ///   - words: the words for the range in error messages; by default those of the range.
  ///   - zero: whether 0 is valid, too.
  static func duration(
    _ name: String, _ member: Member<Duration>, _ range: ClosedRange<UInt32>, or zero: Bool = false,
    words: String? = nil, _ summary: String
  ) -> Self {
    Self(
      name: name, schema: Seconds.jsonSchema, summary: summary,
      sample: "\"\(Seconds.text(of: Values()[keyPath: member]))\"",
      read: { reader, path, values in
        let value = reader.duration(at: path, range, or: zero, words: words)
        if let value { values[keyPath: member] = value }
      }, number: { $0[keyPath: member] / .seconds(1) })
  }

  /// The setting as a limit, with a metric of its own.
  ///
  /// - Parameter value: its value where it applies, if that is another one.
  func limiting(_ value: (@Sendable (Values) -> Double)? = nil) -> Self {
    var limit = self
    limit.isLimit = true
    limit.number = value ?? number
    return limit
  }
}

// MARK: - Settings of other forms

extension Setting {
  /// Declares a setting with a default.
  static func setting(
    _ name: String, _ schema: JSONSchema, isMerged: Bool = false, default sample: String, _ summary: String,
    _ read: @escaping Reading
  ) -> Self {
    Self(name: name, schema: schema, summary: summary, sample: sample, isMerged: isMerged, read: read)
  }

  /// Declares a setting without a default.
  static func setting(
    _ name: String, _ schema: JSONSchema, example sample: String, _ summary: String, _ read: @escaping Reading
  ) -> Self {
    Self(name: name, schema: schema, summary: summary, sample: sample, isDefault: false, read: read)
  }
}
