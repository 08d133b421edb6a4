import ArgumentParser
import JSONRPC
import SDKProtocol

/// A role that rules of an instance give.
enum RuledRole: String, ExpressibleByArgument, CaseIterable {
  case observe, use, control
}

/// The options that define an instance, for `create` and `update`.
struct DefinitionOptions: ParsableArguments {
  @Option(
    name: .customLong("setting"),
    help: ArgumentHelp(
      "A setting; a value that is valid JSON is sent as JSON where the kind allows. Secrets go into the file.",
      valueName: "k=v"),
    completion: CompletionSource.settings)
  var settings: [Assignment] = []

  @Option(help: ArgumentHelp("Settings as a JSON object; - is standard input.", valueName: "file"), completion: .file())
  var settingsFile: String?

  @Option(
    name: .customLong("label"), help: ArgumentHelp("A label.", valueName: "k=v"))
  var labels: [Assignment] = []

  @Option(
    help: ArgumentHelp("Who reads state and events, such as user:NAME.", valueName: "rule"),
    completion: CompletionSource.rules)
  var accessObserve: [AccessRule] = []

  @Option(help: ArgumentHelp("Who gets tokens.", valueName: "rule"), completion: CompletionSource.rules)
  var accessUse: [AccessRule] = []

  @Option(help: ArgumentHelp("Who logs in and out.", valueName: "rule"), completion: CompletionSource.rules)
  var accessControl: [AccessRule] = []

  @Option(
    help: ArgumentHelp("The token provider as a JSON object; - is standard input.", valueName: "file"),
    completion: .file())
  var providerFile: String?

  @Option(
    help: ArgumentHelp("The token provider is the unit sdkd-provider-NAME.socket.", valueName: "name"),
    completion: CompletionSource.providerUnits)
  var providerUnit: String?

  @Option(
    parsing: .remaining,
    help: ArgumentHelp("The provider's program and its arguments: the rest of the line.", valueName: "word"))
  var providerCommand: [String] = []

  func validate() throws {
    if settingsFile == "-", providerFile == "-" {
      throw ValidationError("Only one of --settings-file and --provider-file can be standard input.")
    }
  }

  /// Returns the settings of the file, overridden by those of the options; `nil` when none were given.
  ///
  /// - Parameter schema: finds the schema of the kind's settings; called only where it decides.
  func settingsObject(_ input: Input, schema: () async -> JSON?) async throws -> JSONObject? {
    guard settingsFile != nil || !settings.isEmpty else { return nil }
    var object = try settingsFile.map { try input.object(from: $0) } ?? JSONObject()
    let schema = settings.contains(where: \.isNumberOrBoolean) ? await schema() : nil
    for setting in settings { object.assign(setting, schema: schema) }
    return object
  }

  /// Whether an option gives the provider.
  var hasProvider: Bool { providerFile != nil || providerUnit != nil || !providerCommand.isEmpty }

  /// Returns the provider; `nil` when none was given.
  func providerObject(_ input: Input) throws -> JSONObject? {
    guard hasProvider else { return nil }
    var object = try providerFile.map { try input.object(from: $0) } ?? JSONObject()
    if let providerUnit { object["unit"] = .string(providerUnit) }
    if !providerCommand.isEmpty { object["command"] = .array(providerCommand.map(JSON.string)) }
    return object
  }

  /// Returns the rules of a role; `nil` when none were given.
  func rules(of role: RuledRole) -> [AccessRule]? {
    let rules =
      switch role {
      case .observe: accessObserve
      case .use: accessUse
      case .control: accessControl
      }
    return rules.isEmpty ? nil : rules
  }

  /// The access rules; `nil` when none were given.
  var access: AccessRules? {
    let all = AccessRules(observe: rules(of: .observe), use: rules(of: .use), control: rules(of: .control))
    return all == AccessRules() ? nil : all
  }

  /// The labels; `nil` when none were given.
  var labelTexts: [String: String]? {
    labels.isEmpty ? nil : Dictionary(labels.map { ($0.key, $0.text) }, uniquingKeysWith: { $1 })
  }
}
