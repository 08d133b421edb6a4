import JSONRPC
import SDKProtocol

/// A topic of `sdkctl explain` with its facts.
struct Topic {
  /// The kind of topic: reason, method, state, health, check, event, kind or setting.
  let type: String
  let name: String
  /// The facts, in order. A list of texts has a line for each; a list of words stands on one.
  let facts: [(name: String, value: JSON)]

  /// The topic as JSON for scripts.
  var json: JSON {
    let head: [(String, JSON)] = [("type", .string(type)), ("name", .string(name))]
    return .object(JSONObject(head + facts.map { ($0.name, $0.value) }))
  }

  /// The topic as a table for people.
  var table: Table {
    var rows: [[Table.Cell]] = [[.init(type, .bold), .init(name, .bold)]]
    for (name, value) in facts where !value.isNull {
      let words = Self.words(value)
      let lines = words.contains { $0.contains(" ") } ? words : [words.joined(separator: " ")]
      for (index, line) in lines.enumerated() where !line.isEmpty {
        let text = line.split(whereSeparator: \.isNewline).joined(separator: " ")
        rows.append([.init(index == 0 ? name : ""), .init(text.filter { $0 != "`" })])
      }
    }
    return Table(header: [], rows: rows)
  }

  /// Returns the lines of an object, the elements of an array, or the only word.
  private static func words(_ value: JSON) -> [String] {
    if let elements = value.arrayValue { return elements.map(MemberTable.word) }
    guard value.objectValue != nil else { return [MemberTable.word(value)] }
    return OpenRPCDocument.text(of: value).split(separator: "\n").map(String.init)
  }
}

/// All topics, from the program itself and from the daemon's OpenRPC document.
struct Topics {
  /// The OpenRPC document of the daemon or of the installed program; empty when there is neither.
  let document: JSON
  /// The language of the sentences for people.
  var language = Language.en

  /// Returns the topics of this name: a word such as `timeout` can be a reason and a setting.
  func named(_ name: String) -> [Topic] {
    let own = [reasons, states, HealthTopics.all, checks, methods, questions, events, kinds, statuses]
    let found = own.joined().filter { $0.name == name }
    return found + contract.shapes(named: name)
      + calls.filter { $0.call.words.contains { $0.lowercased() == name.lowercased() } }.map(\.topic)
      + settings.filter { $0.name == name || $0.name.hasSuffix(" \(name)") }
  }

  /// The names of all topics, by type.
  var names: [(type: String, names: [String])] {
    func all(_ topics: [Topic]) -> [String] { topics.map(\.name) }
    return [
      ("reasons", all(reasons)), ("states", all(states)), ("methods", all(methods)),
      ("questions", all(questions)), ("events", all(events)),
      ("kinds", all(kinds)), ("health", all(HealthTopics.all)), ("checks", all(checks).uniqued),
      ("SDK calls", calls.flatMap { $0.call.words.filter(\.isPlainName) }.uniqued),
      ("settings", settings.map { $0.name.split(separator: " ").last.map(String.init) ?? "" }.uniqued),
    ]
  }

  private var contract: ContractTopics { ContractTopics(document: document) }

  /// The exit statuses of `sdkctl`, with the reasons that lead to them.
  private var statuses: [Topic] {
    let all = ReasonEntry.all
    return Set(all.flatMap(\.statuses)).sorted().map { status in
      let reasons = all.filter { $0.statuses.contains(status) }.map { JSON.string($0.name) }
      return Topic(type: "exit status", name: "\(status)", facts: [("reasons", .array(reasons))])
    }
  }

  private var reasons: [Topic] {
    let reference = ErrorReference(document: document)
    return ReasonEntry.all.map { entry in
      let methods = reference.methods(with: entry.name)
      return Topic(
        type: "reason", name: entry.name,
        facts: [
          ("cause", .string(entry.cause)), ("remedy", .string(entry.remedy)),
          ("show", .string(entry.sentence.text(in: language))),
          ("code", .array(entry.codes.map { JSON($0) })), ("exit", .array(entry.statuses.map { JSON(Int($0)) })),
          ("retryable", .string(entry.retry.rawValue)),
          ("methods", reference.isOfEveryMethod(entry.name) ? "all" : .array(methods.map(JSON.string))),
        ])
    }
  }

  private var states: [Topic] {
    InstanceState.allCases.map { state in
      Topic(
        type: "state", name: state.rawValue,
        facts: [("meaning", .string(state.meaning)), ("next", .string(StateGuide.next(of: state)))])
    }
  }

  /// The statuses of the daemon's checks; those of a check have its name.
  private var checks: [Topic] { CheckEntry.all.map(\.topic) }

  private var methods: [Topic] { topics(of: "methods", type: "method") }

  /// The questions that the daemon asks delegates.
  private var questions: [Topic] { topics(of: "x-requests", type: "question") }

  private func topics(of member: String, type: String) -> [Topic] {
    let reference = ErrorReference(document: document)
    return (document[member]?.arrayValue ?? []).map { method in
      let errors = (method["errors"]?.arrayValue ?? []).flatMap(reference.reasons)
      // The params of a question are a shape, not a list.
      let shape = method["params"]?.objectValue.map { JSON.string(Self.type(of: .object($0))) }
      let params = (method["params"]?.arrayValue ?? []).map { param -> JSON in
        let isRequired = param["required"]?.boolValue == true
        return .string(
          "\(param["name"]?.stringValue ?? "?")\(isRequired ? "" : "?"): \(Self.type(of: param["schema"])); "
            + (param["description"]?.stringValue ?? ""))
      }
      let facts: [(name: String, value: JSON)] = [
        ("summary", method["summary"] ?? .null), ("description", method["description"] ?? .null),
        ("role", method["x-sdkd"]?["role"] ?? .null), ("kind", method["x-sdkd"]?["kind"] ?? "all"),
        ("order", method["x-sdkd"]?["ordering"] ?? .null), ("params", shape ?? .array(params)),
        ("result", .string(Self.type(of: method["result"]?["schema"] ?? method["result"]))),
        ("reasons", .array(errors.uniqued.map(JSON.string))),
      ]
      return Topic(
        type: type, name: method["name"]?.stringValue ?? "?", facts: facts + contract.example(of: method))
    }
  }

  private var events: [Topic] {
    EventType.allCases.map { type in
      let name = type.rawValue.prefix(1).uppercased() + type.rawValue.dropFirst()
      let schemas = document["components"]?["schemas"]
      let data = Self.type(of: schemas?["\(name)Event"]?["properties"]?["data"])
      let members = (schemas?[data]?["properties"]?.objectValue?.members ?? []).map { member in
        "\(member.key): \(Self.type(of: member.value)); \(member.value["description"]?.stringValue ?? "")"
      }
      return Topic(
        type: "event", name: type.rawValue,
        facts: [("meaning", .string(type.meaning)), ("data", .array(members.map(JSON.string)))])
    }
  }

  private var kinds: [Topic] {
    (document["x-kinds"]?.arrayValue ?? []).map { kind in
      let name = kind["name"]?.stringValue ?? "?"
      let own = settings.filter { $0.name.hasPrefix("\(name) ") }.map { setting in
        let key = setting.name.dropFirst(name.count + 1)
        func fact(_ name: String) -> JSON? { setting.facts.first { $0.name == name }?.value }
        let mark = fact("required") == true ? " (required)" : ""
        return JSON.string("\(key)\(mark): \(fact("meaning").map(MemberTable.word) ?? "")")
      }
      let methods = (document["methods"]?.arrayValue ?? []).filter { $0["x-sdkd"]?["kind"] == kind["name"] }
      let facts: [(name: String, value: JSON)] = [
        ("summary", kind["summary"] ?? .null), ("methods", .array(methods.compactMap { $0["name"] })),
        ("settings", .array(own)),
      ]
      return Topic(type: "kind", name: name, facts: facts + contract.login(of: kind["name"] ?? .null))
    }
  }

  private var calls: [(call: SDKCall, topic: Topic)] {
    SDKCall.all.map { call in
      let sdk = (document["x-kinds"]?.arrayValue ?? []).first { $0["name"]?.stringValue == call.kind }?["summary"]
      let methods = call.methods.isEmpty ? ["none"] : call.methods
      let topic = Topic(
        type: "SDK call", name: call.names.joined(separator: ", "),
        facts: [
          ("sdk", sdk ?? .null), ("kind", .string(call.kind)), ("here", .array(methods.map(JSON.string))),
          ("events", .array(call.events.map { .string($0.rawValue) })), ("difference", .string(call.difference)),
        ])
      return (call, topic)
    }
  }

  /// Returns the topic that a word probably means; `nil` if there is none.
  func nearest(to word: String) -> String? {
    let names = names.flatMap(\.names) + contract.shapeNames
    let isEnding = { (name: String) in name.lowercased().hasSuffix("." + word.lowercased()) }
    if let method = (methods + questions).map(\.name).first(where: isEnding) { return method }
    // A part of a name is more than a typo away from it.
    let part = word.count < 3 ? nil : names.first { $0.lowercased().contains(word.lowercased()) }
    if let near = part ?? word.nearest(in: names) { return near }
    // The first part of a method, with a typo.
    let heads = names.filter { $0.contains(".") }.map { String($0.prefix { $0 != "." }) }
    return word.nearest(in: heads).flatMap { head in names.first { $0.hasPrefix("\(head).") } }
  }

  /// The settings of all kinds; the name is that of the kind, a space, and the key.
  private var settings: [Topic] {
    (document["x-kinds"]?.arrayValue ?? []).flatMap { kind -> [Topic] in
      var found: [Topic] = []
      add(kind["settings"], kind["name"]?.stringValue ?? "?", path: "", to: &found)
      return found
    }
  }

  private func add(_ schema: JSON?, _ kind: String, path: String, to found: inout [Topic]) {
    let required = (schema?["required"]?.arrayValue ?? []).compactMap(\.stringValue)
    for member in schema?["properties"]?.objectValue?.members ?? [] {
      let key = path.isEmpty ? member.key : "\(path).\(member.key)"
      if member.value["properties"] != nil {
        add(member.value, kind, path: key, to: &found)
        continue
      }
      found.append(
        Topic(
          type: "setting", name: "\(kind) \(key)",
          facts: [
            ("meaning", member.value["description"] ?? .null), ("takes", .string(Self.type(of: member.value))),
            ("required", .bool(required.contains(member.key))),
          ]))
    }
  }

  /// Returns the name of the shape that a JSON Schema refers to; `nil` if it is written out.
  static func reference(_ schema: JSON) -> String? {
    schema["$ref"]?.stringValue?.split(separator: "/").last.map(String.init)
  }

  /// Returns the type of a JSON Schema in a few words.
  static func type(of schema: JSON?) -> String {
    guard let schema else { return "any" }
    if let name = reference(schema) { return name }
    if let whole = schema["allOf"]?.arrayValue?.first { return type(of: whole) }
    if let values = schema["enum"]?.arrayValue { return values.map(MemberTable.word).joined(separator: " | ") }
    if let choices = (schema["oneOf"] ?? schema["anyOf"])?.arrayValue {
      return choices.map { type(of: $0) }.joined(separator: " or ")
    }
    if schema["format"] == "password" { return "secret" }
    let name = schema["type"].map(MemberTable.word) ?? "any"
    if name == "array" { return "array of \(type(of: schema["items"]))" }
    if let members = schema["properties"]?.objectValue?.keys, !members.isEmpty {
      return "{\(members.joined(separator: ", "))}"
    }
    let bounds = [("minimum", "at least"), ("maximum", "at most")].compactMap { key, words in
      schema[key].map { "\(words) \(MemberTable.word($0))" }
    }
    return ([schema["format"]?.stringValue ?? name] + bounds).joined(separator: ", ")
  }
}

extension String {
  /// Whether it has no arguments and no dots.
  fileprivate var isPlainName: Bool { !contains { "(.".contains($0) } }
}

extension [String] {
  /// The elements without repetitions, in order.
  var uniqued: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}

/// The steps that a person can take in each state of an instance.
enum StateGuide {
  /// Returns the next step for a person.
  static func next(of state: InstanceState) -> String {
    switch state {
    case .noUser, .loggedOut: "sdkctl login ID"
    case .anonymous: "Nothing, or sdkctl login ID."
    case .authenticating: "Wait: sdkctl wait ID."
    case .authenticated, .refreshing: "sdkctl token ID, sdkctl open ID"
    case .reauthNeeded: "sdkctl show ID has the cause; then sdkctl login ID, or repair the token provider."
    case .locked: "sdkctl show ID has the cause; then sdkctl login ID or sdkctl logout ID."
    case .quarantined: "sdkctl restore, or sdkctl delete ID."
    }
  }
}
