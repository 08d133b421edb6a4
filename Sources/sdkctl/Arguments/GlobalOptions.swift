import ArgumentParser
import SDKClient
import SDKProtocol

/// The options that all verbs have.
struct GlobalOptions: ParsableArguments {
  @Option(
    name: [.customShort("H"), .long],
    help: ArgumentHelp("The daemon on another machine, by ssh.", valueName: "[user@]host"))
  var host: String?

  @Option(help: ArgumentHelp("The path of the daemon's socket.", valueName: "path"), completion: .file())
  var socket: String?

  @Flag(help: "The daemon of the user.")
  var user = false

  @Flag(help: "The daemon of the machine.")
  var system = false

  @Option(help: ArgumentHelp("The daemon of a tenant.", valueName: "name"), completion: CompletionSource.tenants)
  var tenant: String?

  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp(
      "How to print; jsonl is one object a line, name only what each object is called.", valueName: "format"))
  var output: OutputFormat = .table

  @Flag(help: "The same as -o json.")
  var json = false

  @Option(
    help: ArgumentHelp("Print this text for each object, such as '{instance} {user.externalId}'.", valueName: "text"))
  var template: Template?

  @Flag(help: "Print tables without their header.")
  var noHeaders = false

  @Option(
    help: ArgumentHelp(
      "How long to wait for the daemon in all, such as 10s or 5m; 60s unless given, and no limit for wait, --wait, "
        + "--watch and --follow.", valueName: "duration"))
  var timeout: Seconds?

  @Flag(help: "Show each call and its result on standard error, with secrets masked.")
  var trace = false

  init() {}

  /// Takes these options from a plain command line.
  init(plain line: inout PlainLine) {
    host = line.value("-H", "--host")
    socket = line.value("--socket")
    user = line.flag("--user")
    system = line.flag("--system")
    tenant = line.value("--tenant")
    output = line.value("-o", "--output") ?? .table
    json = line.flag("--json")
    template = line.value("--template")
    noHeaders = line.flag("--no-headers")
    timeout = line.value("--timeout")
    trace = line.flag("--trace")
    line.check(self)
  }

  /// The options that take no value, as words of a command line.
  static let words: Set<String> = ["--user", "--system", "--json", "--no-headers", "--trace"]
  /// The options that take a value, as words of a command line.
  static let wordsWithValue: Set<String> = [
    "-H", "--host", "--socket", "--tenant", "-o", "--output", "--template", "--timeout",
  ]

  func validate() throws {
    guard [socket != nil, user, system, tenant != nil].count(where: { $0 }) <= 1 else {
      throw ValidationError("Give one of --socket, --user, --system and --tenant.")
    }
    if json, output != .table, output != .json { throw ValidationError("Give --json or --output, not both.") }
    if let host, !RemoteHost.isName(host) {
      throw ValidationError("\(host.debugDescription) is no host: give a name, or user@name.")
    }
    // Paths and unit names are built from the tenant's name.
    guard let tenant else { return }
    do { _ = try SocketLocation.tenant(tenant).path() } catch { throw ValidationError("\(error)") }
  }

  /// The format in which results are printed.
  var format: OutputFormat { json ? .json : output }

  /// The daemon on another machine; `nil` for one on this machine.
  var remote: RemoteHost? {
    guard let host else { return nil }
    var options: [String] = []
    if let socket { options = ["--socket", socket] }
    if let tenant { options = ["--tenant", tenant] }
    if user { options = ["--user"] }
    if system { options = ["--system"] }
    return RemoteHost(host, options: options)
  }

  /// The location of the daemon's socket.
  var location: SocketLocation {
    if let socket { return .path(socket) }
    if let tenant { return .tenant(tenant) }
    return user ? .user : system ? .system : .automatic
  }
}
