public import ArgumentParser
import JSONRPC
public import SDKProtocol

// The contract's own types as arguments, so that an invalid value is rejected before the daemon is called.

extension InstanceID: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
  public static var defaultCompletionKind: CompletionKind { CompletionSource.instances }
}

extension Seconds: ExpressibleByArgument {
  public init?(argument: String) { self.init(text: argument) }
}

extension AccessRule: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

extension KindName: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
  public static var defaultCompletionKind: CompletionKind { CompletionSource.kinds }
}

extension InstanceState: ExpressibleByArgument {}

extension EventType: ExpressibleByArgument {}

extension Language: ExpressibleByArgument {
  /// Creates the language of an argument such as `de` or `de-AT`.
  public init?(argument: String) { self.init(tag: argument) }
}

extension PushEndpoint.ServiceType: ExpressibleByArgument {}

/// A `key=value` argument of the command line.
struct Assignment: ExpressibleByArgument, Hashable {
  /// The text before the first `=`.
  let key: String
  /// The text after the first `=`.
  let text: String

  init?(argument: String) {
    guard let equals = argument.firstIndex(of: "="), equals != argument.startIndex else { return nil }
    key = String(argument[..<equals])
    text = String(argument[argument.index(after: equals)...])
  }

  /// Whether the value reads as a number or a Boolean value, which some settings take as text.
  var isNumberOrBoolean: Bool {
    switch value {
    case .number, .bool: true
    default: false
    }
  }

  /// The value: JSON where it can be read as such (`5`, `true`, `["a"]`, `"5"`), otherwise the text itself.
  var value: JSON { (try? JSONParser.parse(text)) ?? .string(text) }
}

extension JSONObject {
  /// Sets a value as the configuration file would: dots in the key lead into nested tables.
  ///
  /// - Parameter schema: the schema of the object. A number or a Boolean value stays text where it takes only strings.
  mutating func assign(_ assignment: Assignment, schema: JSON? = nil) {
    let path = assignment.key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let inner = path.reduce(schema) { $0?["properties"]?[$1] }
    let isText = assignment.isNumberOrBoolean && inner?["type"]?.stringValue == "string"
    assign(isText ? .string(assignment.text) : assignment.value, at: path)
  }

  private mutating func assign(_ value: JSON, at path: [String]) {
    guard let key = path.first else { return }
    guard path.count > 1 else {
      self[key] = value
      return
    }
    var inner = self[key]?.objectValue ?? JSONObject()
    inner.assign(value, at: Array(path.dropFirst()))
    self[key] = .object(inner)
  }
}

/// The instance that a verb is about, and one of its services.
struct ServiceArguments: ParsableArguments {
  @Argument(help: ArgumentHelp("The instance.", valueName: "instance"))
  var id: InstanceID

  @OptionGroup var choice: ServiceOption

  /// The service; `nil` for the only one.
  var service: String? { choice.service }

  init() {}

  /// Creates the arguments of a plain command line.
  init(_ id: InstanceID, service: String?) {
    self.id = id
    choice = ServiceOption(service)
  }
}

/// The service of an instance that a verb is about.
struct ServiceOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("The service, for kinds that have several.", valueName: "name"),
    completion: CompletionSource.services)
  var service: String?

  init() {}

  init(_ service: String?) { self.service = service }
}
