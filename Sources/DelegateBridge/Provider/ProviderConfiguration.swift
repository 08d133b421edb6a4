public import JSONRPC
public import SDKProtocol

/// A token provider: an executable, or a systemd unit with one, and how it is called (`provider.md`, "The provider").
///
/// `init(from:)` rejects values that could not be run, so a decoded value satisfies the constraints of its members.
public struct ProviderConfiguration: RPCValue, Hashable {
  /// The program and its arguments; the first word is an absolute path. With `shell` a single text for `/bin/sh -c`.
  public var command: [String]
  /// The name of the systemd unit that is called instead; `command` is empty then.
  public var unit: String?
  /// Whether `command` is a text for the shell.
  public var shell: Bool
  /// The format of the provider's standard output.
  public var format: ProviderFormat
  /// The content of the provider's standard input.
  public var input: ProviderInput
  /// The time limit of a run, after which the run is ended.
  public var timeout: Seconds
  /// The environment variables to set, by name.
  public var environment: [String: String]
  /// The names of variables of the daemon's own environment that are passed to the provider.
  public var passEnvironment: [String]
  /// The working directory, an absolute path.
  public var workingDirectory: String
  /// The maximum size of standard output. A run that writes more is ended and fails.
  public var maxOutput: ByteCount
  /// The maximum number of concurrent runs for one instance.
  public var concurrency: Int

  /// The longest `timeout`.
  public static let maximumTimeout = Seconds(literal: 600)
  /// The largest `max_output`.
  public static let maximumOutput = ByteCount.kibibytes(1024)

  /// Creates a provider that is a command. The values are not checked.
  public init(
    command: [String], shell: Bool = false, format: ProviderFormat = .auto, input: ProviderInput = .json,
    timeout: Seconds = Seconds(literal: 10), environment: [String: String] = [:], passEnvironment: [String] = [],
    workingDirectory: String = "/",
    maxOutput: ByteCount = .kibibytes(64), concurrency: Int = 1
  ) {
    self.command = command
    unit = nil
    self.shell = shell
    self.format = format
    self.input = input
    self.timeout = timeout
    self.environment = environment
    self.passEnvironment = passEnvironment
    self.workingDirectory = workingDirectory
    self.maxOutput = maxOutput
    self.concurrency = concurrency
  }

  /// Creates a provider that is a systemd unit. The values are not checked.
  public init(
    unit: String, format: ProviderFormat = .auto, input: ProviderInput = .json, timeout: Seconds = Seconds(literal: 10),
    maxOutput: ByteCount = .kibibytes(64), concurrency: Int = 1
  ) {
    self.init(
      command: [], format: format, input: input, timeout: timeout, maxOutput: maxOutput, concurrency: concurrency)
    self.unit = unit
  }

  /// The provider's name in the journal: `unit:NAME`, or the program.
  var name: String { unit.map { "unit:\($0)" } ?? arguments.first ?? "" }

  /// The words to execute: the command itself, or the shell and the command.
  public var arguments: [String] { shell && unit == nil ? ["/bin/sh", "-c"] + command : command }

  public static let jsonSchema = JSONSchema.named(
    "Provider",
    .object([
      .optional(
        "command", .oneOf([.array(.string()), .string()]),
        "the program, an absolute path, and its arguments; with shell one text"),
      .optional("shell", .boolean, "whether command is a text for /bin/sh; false"),
      .optional("unit", .string(), "instead of a command: NAME of the systemd unit sdkd-provider-NAME.socket to ask"),
      .optional("format", .enumeration(ProviderFormat.allCases.map(\.rawValue)), "how its output is read; auto"),
      .optional(
        "input", .enumeration(ProviderInput.allCases.map(\.rawValue)),
        "what it reads: json, the question; none; git, as git's credential helpers read it; json"),
      .optional("timeout", Seconds.jsonSchema, "how long a run may take, at most 10m; 10s"),
      .optional("environment", .map(.string()), "variables to set"),
      .optional("pass_environment", .array(.string()), "variables of the daemon's environment to pass"),
      .optional("working_directory", .string(pattern: "^/", called: "absolute path"), "where it runs; /"),
      .optional("max_output", ByteCount.jsonSchema, "how much output is taken, at most 1MiB; 64KiB"),
      .optional("concurrency", .integer(minimum: 1), "how many runs there may be for one instance at a time; 1"),
    ]))
}

/// The format of a provider's standard output (`provider.md`, the table of formats).
public enum ProviderFormat: String, Sendable, Codable, CaseIterable {
  /// Automatic detection: output that begins with `{` is one of the JSON formats, depending on its members; other
  /// output is `raw`.
  case auto
  /// The token on one line.
  case raw
  /// A JSON object with the members that answer the question (`provider.md`, "Questions and answers").
  case json
  /// The object `ExecCredential` of Kubernetes (`client.authentication.k8s.io`).
  case execCredential = "exec-credential"
  /// The response format of executables for the `google-auth` libraries ("executable-sourced credentials").
  case googleExecutable = "google-executable"
  /// The `key=value` lines of git's credential helpers (git-credential(1)).
  case gitCredential = "git-credential"
  /// The answer of an OAuth 2.0 token endpoint (RFC 6749, 5.1 and 5.2).
  case oauth
}

/// The name of a token provider that is a systemd unit: `NAME` in `sdkd-provider-NAME.socket`.
enum UnitName {
  /// The maximum length of the name in bytes, so that the socket's path fits into a unix socket address.
  static let longest = 64

  /// The folder of the sockets, unless a setting names another. Each tenant has a folder below it.
  static let standardSockets = "/run/sdkd-providers"

  /// Returns why a name is invalid, as a sentence; `nil` if it is valid.
  static func problem(of name: String) -> String? {
    let isValid =
      !name.isEmpty && name.utf8.count <= longest
      && name.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
          || [UInt8](":_.-".utf8).contains(byte)
      }
    if isValid { return nil }
    return
      "The unit is the NAME of sdkd-provider-NAME.socket: at most \(longest) letters, digits, \":\", \"_\", \".\", "
      + "\"-\"."
  }

  /// Returns the name of the unit without its suffix. The units of a tenant's providers contain the tenant's name, as
  /// the folder of their sockets does.
  static func unit(_ name: String, socketsIn folder: String) -> String {
    let parent = standardSockets + "/"
    let tenant = folder.hasPrefix(parent) ? "\(folder.dropFirst(parent.count))-" : ""
    return "sdkd-provider-\(tenant)\(name)"
  }
}
