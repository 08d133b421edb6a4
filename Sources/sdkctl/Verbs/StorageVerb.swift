import ArgumentParser
import JSONRPC
import SDKProtocol

/// `sdkctl storage list|get|put|delete ID [KEY]`: reads and writes the app's own values.
struct StorageVerb: Verb {
  /// The action of the verb.
  typealias Action = StorageAction

  static let configuration = CommandConfiguration(
    verb: "storage", abstract: "Read and write the values that an app keeps with an instance.",
    discussion: """
      The actions are list, get, put and delete. put reads the value, any JSON, from standard input or --file. get \
      prints null for a missing value, and nothing with --text. Action and instance can stand in either order.
      """,
    examples: [
      "sdkctl storage list desk",
      "sdkctl storage get desk draft",
      "sdkctl storage put desk draft --text < draft.txt",
    ])

  @Argument(help: "list, get, put or delete.", completion: CompletionSource.actions(Action.self))
  var action: String

  @Argument(help: "The instance.", completion: CompletionSource.actions(Action.self))
  var instance: String

  @Argument(help: "The key; not for list.", completion: CompletionSource.storageKeys)
  var key: String?

  @Option(
    help: ArgumentHelp("Read the value from this file instead of standard input.", valueName: "path"),
    completion: .file())
  var file: String?

  @Flag(help: "The value is text, not JSON.")
  var text = false

  @Option(help: "Refuse when the storage is no longer of this epoch.")
  var epoch: String?

  @OptionGroup(title: "Global options") var global: GlobalOptions

  private var words: ActionOrder<Action> {
    get throws { try ActionOrder(action, instance) }
  }

  func validate() throws {
    let action = try words.action
    if action == .list, key != nil { throw ValidationError("list takes no key.") }
    if action != .list, key == nil { throw ValidationError("\(action.rawValue) takes a key.") }
    if action != .put, file != nil {
      throw ValidationError("--file is for put. get prints the value on standard output, which the shell can redirect.")
    }
  }

  /// Returns all keys, sorted, fetched page by page.
  private func keys(of id: InstanceID, _ context: CommandContext) async throws -> [JSON] {
    var params = StorageList.Params(instance: id, storageEpoch: epoch)
    var all: [JSON] = []
    while true {
      let page = try await context.ask(StorageList.self, params)
      all += page["keys"]?.arrayValue ?? []
      guard let next = page["next"]?.stringValue, next != params.after else { break }
      params.after = next
    }
    return all.sorted { ($0["key"]?.stringValue ?? "") < ($1["key"]?.stringValue ?? "") }
  }

  func run(in context: CommandContext) async throws {
    let key = key ?? ""
    let (id, action) = (try words.instance, try words.action)
    switch action {
    case .list:
      let keys = try await keys(of: id, context)
      try context.presenter.list(keys, none: "\(id) keeps no values.", context.errors) {
        Table(
          header: ["KEY", "BYTES"],
          rows: keys.map { [.init($0["key"]?.stringValue ?? "?"), .init($0["bytes"].map(MemberTable.word) ?? "?")] })
      }
    case .get:
      let result = try await context.ask(StorageGet.self, .init(instance: id, key: key, storageEpoch: epoch))
      guard context.presenter.isForPeople else { return try context.presenter.show(result) }
      let value = result["value"] ?? .null
      guard text else { return try context.output.raw(line: JSONWriter.text(of: value)) }
      if !value.isNull { try context.output.raw(line: MemberTable.word(value)) }
    case .put:
      let bytes = try context.input.bytes(from: file)
      let value = text ? .string(String(decoding: bytes, as: UTF8.self)) : try Input.json(bytes, file ?? "-")
      let params = StoragePut.Params(instance: id, key: key, value: value, storageEpoch: epoch)
      try context.presenter.show(try await context.ask(StoragePut.self, params))
    case .delete:
      let params = StorageDelete.Params(instance: id, key: key, storageEpoch: epoch)
      try context.presenter.show(try await context.ask(StorageDelete.self, params))
    }
  }
}
