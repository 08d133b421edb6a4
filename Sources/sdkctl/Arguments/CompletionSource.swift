import ArgumentParser
import JSONRPC
import SDKClient
import SDKProtocol

/// Completions for shells with words from the daemon, such as ids and methods. There are none when the daemon does not
/// respond at once.
enum CompletionSource {
  /// The time limit of a call: the shell blocks on it while a person is typing.
  private static let patience = Duration.milliseconds(800)

  /// Returns a completion with the words that `find` gets from the daemon named on the command line.
  static func asking(_ find: @escaping @Sendable (CompletionSource.Line) async throws -> [String]) -> CompletionKind {
    .custom { words, index, _ async in
      let line = Line(words: words, index: index)
      let found = ((try? await find(line)) ?? []).filter(isPlain)
      // zsh takes what follows a colon as a description.
      return CompletionShell.requesting == .zsh ? found.map { $0.replacing(":", with: "\\:") } : found
    }
  }

  /// Whether a shell takes the word literally: it expands nothing in it, and `sdkctl` does not read it as an option.
  ///
  /// Other users can choose these words, such as the keys of an instance's storage.
  static func isPlain(_ word: String) -> Bool {
    guard let first = word.utf8.first, first != UInt8(ascii: "-") else { return false }
    return word.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "._:=@/+-".utf8.contains(byte)
      }
    }
  }

  /// The ids of instances.
  static let instances = asking(instanceIDs)

  private static func instanceIDs(_ line: Line) async throws -> [String] {
    var params = InstanceList.Params()
    var found: [String] = []
    while true {
      let page = try await line.ask(InstanceList.self, params)
      let ids = (page["instances"]?.arrayValue ?? []).compactMap { $0["instance"]?.stringValue }
      found += ids
      guard let next = page["next"]?.stringValue.flatMap({ InstanceID($0) }), next != params.after else { return found }
      params.after = next
    }
  }

  /// The words of a verb whose action and instance can stand in either order: actions, then instances.
  static func actions<Action: RawRepresentable & CaseIterable>(_ type: Action.Type) -> CompletionKind
  where Action.RawValue == String {
    let names = Action.allCases.map(\.rawValue)
    return asking { line in
      let before = line.words.prefix(line.index)
      return before.contains(where: names.contains)
        ? try await instanceIDs(line) : names + ((try? await instanceIDs(line)) ?? [])
    }
  }

  /// The kinds that the daemon hosts.
  static let kinds = asking { line in
    (try await line.ask(DaemonInfo.self, Empty())["kinds"]?.arrayValue ?? []).compactMap(\.stringValue)
  }

  /// The topics of `sdkctl explain`.
  static let topics = asking { line in
    let document = (try? await line.ask(RPCDiscover.self, Empty())) ?? [:]
    return Topics(document: document).names.flatMap(\.names)
  }

  /// The names of methods.
  static let methods = asking { line in
    (try await line.ask(RPCDiscover.self, Empty())["methods"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
  }

  /// The settings of the kind that `--kind` or the instance names: the keys, each with a trailing `=`, or the values
  /// that the key in front of a typed `=` can have.
  static let settings = asking { line in
    guard let kind = try await line.kind() else { return [] }
    let kinds = try await line.ask(RPCDiscover.self, Empty())["x-kinds"]?.arrayValue ?? []
    let schema = kinds.first { $0["name"]?.stringValue == kind }?["settings"]
    let members = settings(of: schema)
    guard let key = line.current.firstIndex(of: "=").map({ line.current[..<$0] }) else {
      return members.map { "\($0.key)=" }
    }
    return words(of: members.first { $0.key == key }?.schema).map { "\(key)=\($0)" }
  }

  /// Returns the keys of settings with their schemas. Dots lead into inner tables.
  private static func settings(of schema: JSON?) -> [(key: String, schema: JSON)] {
    (schema?["properties"]?.objectValue?.members ?? []).flatMap { member in
      let inner = settings(of: member.value)
      return inner.isEmpty
        ? [(member.key, member.value)] : inner.map { ("\(member.key).\($0.key)", $0.schema) }
    }
  }

  /// Returns the words that are valid for a schema; none where there is no end of them.
  private static func words(of schema: JSON?) -> [String] {
    guard let schema else { return [] }
    if let words = schema["enum"]?.arrayValue { return words.compactMap(\.stringValue) }
    if schema["type"] == "boolean" { return ["true", "false"] }
    return ["allOf", "oneOf", "anyOf"].flatMap { schema[$0]?.arrayValue ?? [] }.flatMap { words(of: $0) }
  }

  /// The keys of the instance's labels.
  static let labels = asking { line in
    guard let id = line.instance else { return [] }
    return try await line.ask(InstanceGet.self, .init(instance: id))["labels"]?.objectValue?.keys ?? []
  }

  /// The services of the instance.
  static let services = asking { line in
    guard let id = line.instance else { return [] }
    return try await line.ask(InstanceGet.self, .init(instance: id))["services"]?.objectValue?.keys ?? []
  }

  /// The keys of the values that an app keeps with the instance; none for `list`, which takes no key.
  static let storageKeys = asking { line in
    guard let id = line.instance, !line.words.contains("list") else { return [] }
    let keys = try await line.ask(StorageList.self, .init(instance: id))["keys"]?.arrayValue ?? []
    return keys.compactMap { $0["key"]?.stringValue }
  }

  /// The ids of the instance's push registrations.
  static let registrations = asking { line in
    guard let id = line.instance else { return [] }
    let pushes = try await line.ask(PushList.self, .init(instance: id))["pushes"]?.arrayValue ?? []
    return pushes.compactMap { $0["id"]?.stringValue }
  }

  /// The command line that is being typed.
  struct Line: Sendable {
    /// The words of the line, starting with the program's name.
    let words: [String]
    /// The index of the word that is being typed.
    let index: Int

    /// The word that is being typed.
    var current: String { words.indices.contains(index) ? words[index] : "" }

    /// Calls a method of the daemon that the line's options name.
    fileprivate func ask<M: SDKMethod>(_ method: M.Type, _ params: M.Params) async throws -> JSON {
      let options = ClientOptions(
        readRetry: RetrySchedule(limit: .zero), callTimeout: patience, callsBlock: true)
      let client = SDKClient(socket: location, options: options)
      return try await client.call(M.name, try JSONValueEncoder.encode(params), ordering: M.ordering)
    }

    /// The location of the daemon, also for a line that can't be parsed yet.
    var location: SocketLocation {
      if let path = value(of: "--socket") { return .path(path) }
      if let tenant = value(of: "--tenant") { return .tenant(tenant) }
      return words.contains("--user") ? .user : words.contains("--system") ? .system : .automatic
    }

    /// The instance, the first word after the verb that belongs to no option and is no action; `nil` for none.
    var instance: InstanceID? {
      let options = GlobalOptions.wordsWithValue
      var rest = words.dropFirst().prefix(max(0, index - 1))
      var hasVerb = false
      while let word = rest.popFirst() {
        if options.contains(word) {
          _ = rest.popFirst()
        } else if !word.hasPrefix("-") {
          if hasVerb, !isAction(word) { return InstanceID(word) }
          hasVerb = true
        }
      }
      return nil
    }

    /// Returns the kind given by `--kind`, else the kind of the instance; `nil` without both.
    fileprivate func kind() async throws -> String? {
      if let kind = value(of: "--kind") { return kind }
      guard let instance else { return nil }
      return try await ask(InstanceGet.self, .init(instance: instance))["kind"]?.stringValue
    }

    /// Whether a word is an action of the verb.
    private func isAction(_ word: String) -> Bool {
      if words.contains("storage") { return StorageAction(rawValue: word) != nil }
      return words.contains("push") && PushAction(rawValue: word) != nil
    }

    private func value(of option: String) -> String? {
      for (position, word) in words.enumerated() where position != index {
        if word.hasPrefix("\(option)=") { return String(word.dropFirst(option.count + 1)) }
        if word == option, position + 1 < words.count, position + 1 != index { return words[position + 1] }
      }
      return nil
    }
  }
}
