import ArgumentParser
import JSONRPC
import SDKProtocol

/// `sdkctl push list|register|unregister ID`: manages the devices that get an instance's push messages.
struct PushVerb: Verb {
  /// The action of the verb.
  typealias Action = PushAction

  static let configuration = CommandConfiguration(
    verb: "push", abstract: "Show, make and end registrations for push messages.",
    discussion: """
      register reads the device's address, a secret, from standard input, --file or the keyboard, and prints the \
      registration's id; unregister takes that id. Action and instance can stand in either order.
      """,
    examples: [
      "sdkctl push list desk",
      "sdkctl push register desk --type fcm < address",
      "sdkctl push unregister desk p1",
    ])

  @Argument(help: "list, register or unregister.", completion: CompletionSource.actions(Action.self))
  var action: String

  @Argument(help: "The instance.", completion: CompletionSource.actions(Action.self))
  var instance: String

  @Argument(help: "The registration's id; only for unregister.", completion: CompletionSource.registrations)
  var registration: String?

  @Option(help: "Whose push service it is: apns, fcm or other; only for register.")
  var type: PushEndpoint.ServiceType?

  @Option(help: ArgumentHelp("The device's language, such as de-DE.", valueName: "language"))
  var locale: String?

  @OptionGroup var choice: ServiceOption

  @Option(
    help: ArgumentHelp("Read the address from this file instead of standard input.", valueName: "path"),
    completion: .file())
  var file: String?

  @OptionGroup(title: "Global options") var global: GlobalOptions

  private var words: ActionOrder<Action> {
    get throws { try ActionOrder(action, instance) }
  }

  func validate() throws {
    let action = try words.action
    if action == .unregister, registration == nil { throw ValidationError("unregister takes the registration's id.") }
    if action != .unregister, registration != nil { throw ValidationError("\(action.rawValue) takes no id.") }
    if action == .register, type == nil { throw ValidationError("register takes --type apns, fcm or other.") }
  }

  /// Returns all registrations, fetched page by page.
  private func pushes(of id: InstanceID, _ context: CommandContext) async throws -> [JSON] {
    var params = PushList.Params(instance: id)
    var all: [JSON] = []
    while true {
      let page = try await context.ask(PushList.self, params)
      all += page["pushes"]?.arrayValue ?? []
      guard let next = page["next"]?.stringValue, next != params.after else { return all }
      params.after = next
    }
  }

  func run(in context: CommandContext) async throws {
    let (id, action) = (try words.instance, try words.action)
    switch action {
    case .list:
      let pushes = try await pushes(of: id, context)
      try context.presenter.list(pushes, none: "\(id) has no registrations.", context.errors) { Self.table(pushes) }
    case .register:
      let bytes = try context.input.secret(from: file, prompt: "Address (not shown): ")
      let text = try Input.text(bytes)
      if let wrapping = CredentialWrapping(text).description {
        throw CommandFailure.input("There is \(wrapping) around the address; give the address alone.")
      }
      let words = text.split(whereSeparator: \.isWhitespace)
      guard words.count == 1, let address = words.first, let type else {
        throw CommandFailure.input("One address is expected, without spaces.")
      }
      let endpoint = PushEndpoint(address: Secret(String(address)), type: type, locale: locale)
      let result = try await context.ask(
        PushRegister.self, .init(instance: id, service: choice.service, endpoint: endpoint))
      guard context.presenter.isForPeople else { return try context.presenter.show(result) }
      try context.output.line(result["id"].map(MemberTable.word) ?? "")
    case .unregister:
      let params = PushUnregister.Params(instance: id, id: registration ?? "")
      try context.presenter.show(try await context.ask(PushUnregister.self, params))
    }
  }

  /// Returns a table of the registrations for people.
  static func table(_ pushes: [JSON]) -> Table {
    func word(_ push: JSON, _ name: String) -> Table.Cell { .init(push[name].map(MemberTable.word) ?? "-") }
    return Table(
      header: ["ID", "SERVICE", "ADDRESS", "USER", "ORPHANED", "MADE"],
      rows: pushes.map { push in
        let user = ["externalId", "email", "name", "id"].lazy.compactMap { push["user"]?[$0]?.stringValue }.first
        let isOrphaned = push["orphaned"]?.boolValue ?? false
        return [
          word(push, "id"), word(push, "service"), word(push, "address"), .init(user ?? "-"),
          .init(isOrphaned ? "yes" : "no", isOrphaned ? .doubtful : .plain), word(push, "createdAt"),
        ]
      })
  }
}
