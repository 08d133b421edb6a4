import ArgumentParser
import SDKProtocol

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
