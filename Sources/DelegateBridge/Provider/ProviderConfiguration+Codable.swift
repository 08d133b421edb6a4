import JSONRPC
import SDKProtocol

extension ProviderConfiguration {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case command, shell, unit, format, input, timeout, environment, concurrency
    case passEnvironment = "pass_environment"
    case workingDirectory = "working_directory"
    case maxOutput = "max_output"
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func refuse(_ key: CodingKeys, _ sentence: String) -> DecodingError {
      .dataCorruptedError(forKey: key, in: container, debugDescription: sentence)
    }
    func value<T: Decodable>(_ key: CodingKeys, or fallback: T) throws -> T {
      try container.decodeIfPresent(T.self, forKey: key) ?? fallback
    }

    unit = try container.decodeIfPresent(String.self, forKey: .unit)
    shell = try value(.shell, or: false)
    let hasCommand = try container.contains(.command) && !container.decodeNil(forKey: .command)
    if let unit {
      if hasCommand { throw refuse(.command, "A provider has a command or a unit, not both.") }
      if let problem = UnitName.problem(of: unit) { throw refuse(.unit, problem) }
      for key in [CodingKeys.shell, .environment, .passEnvironment, .workingDirectory] where container.contains(key) {
        throw refuse(key, "With a unit this is said in the unit's own files.")
      }
      command = []
    } else if !hasCommand {
      throw refuse(.command, "A provider needs a command or a unit.")
    } else if shell {
      guard let text = try? container.decode(String.self, forKey: .command) else {
        throw refuse(.command, "With shell = true the command is one text.")
      }
      command = [text]
    } else {
      guard let words = try? container.decode([String].self, forKey: .command) else {
        throw refuse(.command, "The command is an array of the program and its arguments; one text needs shell = true.")
      }
      command = words
    }
    if unit == nil, let problem = Self.problem(ofCommand: command, shell: shell) { throw refuse(.command, problem) }

    format = try value(.format, or: .auto)
    input = try value(.input, or: .json)
    timeout = try value(.timeout, or: Seconds(literal: 10))
    guard timeout > Seconds(literal: 0), timeout <= Self.maximumTimeout else {
      throw refuse(.timeout, "The timeout must be longer than nothing and at most 10m.")
    }
    environment = try value(.environment, or: [:])
    for (name, value) in environment.sorted(by: { $0.key < $1.key }) {
      if let problem = ProviderEnvironment.problem(ofName: name) { throw refuse(.environment, problem) }
      if value.utf8.contains(0) { throw refuse(.environment, "The variable \(name) must not hold a NUL character.") }
    }
    passEnvironment = try value(.passEnvironment, or: [])
    for name in passEnvironment {
      if let problem = ProviderEnvironment.problem(ofName: name) { throw refuse(.passEnvironment, problem) }
    }
    workingDirectory = try value(.workingDirectory, or: "/")
    guard workingDirectory.hasPrefix("/"), !workingDirectory.utf8.contains(0) else {
      throw refuse(.workingDirectory, "The working directory must be an absolute path.")
    }
    maxOutput = try value(.maxOutput, or: .kibibytes(64))
    guard maxOutput.bytes > 0, maxOutput <= Self.maximumOutput else {
      throw refuse(.maxOutput, "The output limit must be from 1 byte to 1MiB.")
    }
    concurrency = try value(.concurrency, or: 1)
    guard concurrency >= 1 else { throw refuse(.concurrency, "The concurrency must be at least 1.") }
  }

  private static func problem(ofCommand words: [String], shell: Bool) -> String? {
    guard let first = words.first, !first.isEmpty else { return "The command must not be empty." }
    if words.contains(where: { $0.utf8.contains(0) }) { return "The command must not hold a NUL character." }
    if !shell, !first.hasPrefix("/") { return "The command's first word must be an absolute path." }
    return nil
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    if let unit {
      try container.encode(unit, forKey: .unit)
    } else if shell {
      try container.encode(command.joined(separator: " "), forKey: .command)
      try container.encode(true, forKey: .shell)
    } else {
      try container.encode(command, forKey: .command)
    }
    try container.encode(format, forKey: .format)
    try container.encode(input, forKey: .input)
    try container.encode(timeout, forKey: .timeout)
    if !environment.isEmpty { try container.encode(environment, forKey: .environment) }
    if !passEnvironment.isEmpty { try container.encode(passEnvironment, forKey: .passEnvironment) }
    if unit == nil { try container.encode(workingDirectory, forKey: .workingDirectory) }
    try container.encode(maxOutput, forKey: .maxOutput)
    try container.encode(concurrency, forKey: .concurrency)
  }
}
