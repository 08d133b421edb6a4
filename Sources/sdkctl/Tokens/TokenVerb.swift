import ArgumentParser
import JSONRPC
import Linux
import SDKProtocol

/// `sdkctl token ID`: prints a valid credential, or keeps a file with one.
struct TokenVerb: PlainVerb {
  static let configuration = CommandConfiguration(
    verb: "token", abstract: "Print a valid token, or keep a file with one.",
    discussion: """
      Prints the bare token and a newline. With --http it prints headers as 'Name: value', for curl -H @-.

      With --file it replaces a file, which only you can read. With --follow it keeps the file until it is stopped: \
      replaces it when there is a new token, and removes it when the user is signed out, when there may be another \
      user, when the token ends, and when sdkctl itself is told to stop. The unit sdkd-token@.service runs it.
      """,
    examples: [
      "sdkctl token desk",
      "sdkctl token desk --min-ttl 5m --strict",
      "sdkctl token desk --http | curl -H @- https://example.com/",
      "sdkctl token desk --file /run/desk/token --follow --hook 'systemctl reload desk'",
    ])

  @OptionGroup var target: ServiceArguments

  @OptionGroup var lifetime: TokenLifetime

  @Flag(help: "Print the HTTP header and query with which a request carries it.")
  var http = false

  @Option(
    help: ArgumentHelp("Write it to this file, with mode 0600, instead of standard output.", valueName: "path"),
    completion: .file())
  var file: String?

  @Flag(name: .shortAndLong, help: "Keep the file: replace it and remove it as the instance changes.")
  var follow = false

  @Option(
    help: ArgumentHelp(
      "With --follow: run this by sh -c after each change of the file, at most 30 s. It gets SDKD_INSTANCE and "
        + "SDKD_TOKEN_FILE, and no token.", valueName: "command"))
  var hook: String?

  @OptionGroup(title: "Global options") var global: GlobalOptions

  init() {}

  init?(plain line: inout PlainLine) {
    let service: String? = line.value("--service")
    lifetime = TokenLifetime(plain: &line)
    http = line.flag("--http")
    file = line.value("--file")
    follow = line.flag("--follow") || line.flag("-f")
    hook = line.value("--hook")
    global = GlobalOptions(plain: &line)
    guard let id = line.argument(as: InstanceID.self) else { return nil }
    target = ServiceArguments(id, service: service)
  }

  /// A file is kept by a process of the machine that has it.
  var isLocal: Bool { follow }

  func validate() throws {
    if follow, file == nil { throw ValidationError("--follow keeps a file: give --file.") }
    if hook != nil, !follow { throw ValidationError("--hook goes with --follow.") }
  }

  func run(in context: CommandContext) async throws {
    let text = TokenText(format: global.format, template: global.template, http: http)
    var params = lifetime.tokenParams(target.id, target.service, http: http ? true : nil)
    if let file, follow {
      let following = TokenFollowing(
        client: context.concurrentClient(), params: params, rules: lifetime.fileRules, text: text, path: file,
        hook: hook.map { TokenHook(command: $0) }, limit: global.timeout?.duration)
      return try await following.run()
    }
    params.timeout = global.timeout
    let token = try await context.ask(TokenGet.self, params, isTimed: true)
    try lifetime.check(token, in: context)
    guard let file else { return try text.print(token, to: context.presenter) }
    let bytes = try text.bytes(of: token)
    do { try AtomicFile(file).write(bytes) } catch {
      throw CommandFailure(message: "The token's file can't be written: \(error).", reason: "output", status: 1)
    }
  }
}

/// The text of a token as `sdkctl token` prints it, and writes it to a file.
struct TokenText: Sendable {
  let format: OutputFormat
  let template: Template?
  /// Whether the text is the headers of a request.
  let http: Bool

  /// Returns the bytes for a token, the result of `token.get`.
  func bytes(of token: JSON) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try print(token, to: Presenter(format: format, template: template, output: Output { bytes += $0 }))
    return bytes
  }

  /// Prints a token, the result of `token.get`.
  func print(_ token: JSON, to presenter: Presenter) throws {
    guard presenter.isForPeople else { return try presenter.show(token) }
    guard let bare = token["token"]?.stringValue else {
      throw CommandFailure(message: "The daemon's answer has no token.", reason: "badAnswer", status: 1)
    }
    for line in http ? Self.headers(token["http"]) : [bare] { try presenter.output.raw(line: line) }
  }

  /// Returns the header lines of a request that carry the credential.
  private static func headers(_ http: JSON?) -> [String] {
    func pairs(_ name: String) -> [(String, String)] {
      (http?[name]?.objectValue?.members ?? []).map { ($0.key, MemberTable.word($0.value)) }
    }
    let cookies = pairs("cookies").map { "\($0)=\($1)" }.joined(separator: "; ")
    return pairs("headers").map { "\($0): \($1)" } + (cookies.isEmpty ? [] : ["Cookie: \(cookies)"])
  }
}
