import ArgumentParser
import JSONRPC
import SDKProtocol

/// `sdkctl token ID`: prints a valid credential.
struct TokenVerb: PlainVerb {
  static let configuration = CommandConfiguration(
    verb: "token", abstract: "Print a valid token.",
    discussion: """
      Prints the bare token and a newline. With --http it prints headers as 'Name: value', for curl -H @-.
      """,
    examples: [
      "sdkctl token desk",
      "sdkctl token desk --min-ttl 5m --strict",
      "sdkctl token desk --http | curl -H @- https://example.com/",
    ])

  @Argument(help: ArgumentHelp("The instance.", valueName: "instance"))
  var id: InstanceID

  @Option(
    help: ArgumentHelp("The service, for kinds that have several.", valueName: "name"),
    completion: CompletionSource.services)
  var service: String?

  @OptionGroup var lifetime: TokenLifetime

  @Flag(help: "Print the HTTP header and query with which a request carries it.")
  var http = false

  @OptionGroup(title: "Global options") var global: GlobalOptions

  init() {}

  init?(plain line: inout PlainLine) {
    service = line.value("--service")
    lifetime = TokenLifetime(plain: &line)
    http = line.flag("--http")
    global = GlobalOptions(plain: &line)
    guard let id = line.argument(as: InstanceID.self) else { return nil }
    self.id = id
  }

  func run(in context: CommandContext) async throws {
    let params = TokenGet.Params(
      instance: id, service: service, minTTL: lifetime.minTTL, timeout: global.timeout, http: http ? true : nil)
    let token = try await context.ask(TokenGet.self, params, isTimed: true)
    try lifetime.check(token, in: context)
    guard context.presenter.isForPeople else { return try context.presenter.show(token) }
    guard let bare = token["token"]?.stringValue else {
      throw CommandFailure(message: "The daemon's answer has no token.", reason: "badAnswer", status: 1)
    }
    for line in http ? Self.headers(token["http"]) : [bare] { try context.output.raw(line: line) }
  }

  /// Returns the header lines of a request that carry the credential.
  static func headers(_ http: JSON?) -> [String] {
    func pairs(_ name: String) -> [(String, String)] {
      (http?[name]?.objectValue?.members ?? []).map { ($0.key, MemberTable.word($0.value)) }
    }
    let cookies = pairs("cookies").map { "\($0)=\($1)" }.joined(separator: "; ")
    return pairs("headers").map { "\($0): \($1)" } + (cookies.isEmpty ? [] : ["Cookie: \(cookies)"])
  }
}
