import Glibc
import Linux

/// The certificate authorities that a daemon trusts at vendors.
enum TrustedAuthorities: Hashable {
  /// The authorities of the machine.
  case system
  /// The authorities in this file.
  case file(String)
  /// Unknown authorities: this user can't see what is configured.
  case unknown

  /// Determines what the daemon trusts where an instance has no `ca_file`: the file in its configuration, else the one
  /// in its environment, else the machine's.
  ///
  /// - Parameters:
  ///   - configuration: the path of the configuration file; `nil` if it is not known.
  ///   - process: the daemon's process.
  init(configuration: String?, process: Int?) {
    guard let configuration else {
      self = .unknown
      return
    }
    var found = TrustedAuthorities.system
    if ConfigurationCheck.absence(of: configuration) == nil {
      found = BoundedFile.text(at: configuration, limit: 1 << 20).map { TrustedAuthorities(inFile: $0) } ?? .unknown
    }
    if found == .system {
      let text = process.flatMap { BoundedFile.text(at: "/proc/\($0)/environ", limit: 1 << 20) }
      found = text.map { TrustedAuthorities(inEnvironment: $0) } ?? .unknown
    }
    self = found
  }

  /// Reads the key `ca_file` in the text of a configuration file, which only the table `network` has.
  init(inFile text: String) {
    let lines = text.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
    guard let line = lines.first(where: { !$0.hasPrefix("#") && $0.contains("ca_file") }) else {
      self = .system
      return
    }
    // The text before the quoted path, the path, and the text after it. Other forms, such as a table on one line, are
    // left to the daemon.
    let parts = line.split(maxSplits: 2, omittingEmptySubsequences: false) { $0 == "\"" || $0 == "'" }
    let key = parts[0].filter { !$0.isWhitespace }
    guard parts.count == 3, ["ca_file=", "network.ca_file="].contains(key), !parts[1].isEmpty, !parts[1].contains("\\"),
      let rest = parts.last?.drop(while: \.isWhitespace), rest.isEmpty || rest.hasPrefix("#")
    else {
      self = .unknown
      return
    }
    self = .file(String(parts[1]))
  }

  /// Reads the variables of OpenSSL in an environment, as `/proc/PID/environ` has it.
  init(inEnvironment text: String) {
    let variables = text.split(separator: "\0").filter { $0.last != "=" }
    if variables.contains(where: { $0.hasPrefix("SSL_CERT_DIR=") }) {
      self = .unknown
    } else {
      let file = variables.first { $0.hasPrefix("SSL_CERT_FILE=") }
      self = file.map { TrustedAuthorities.file(String($0.dropFirst("SSL_CERT_FILE=".count))) } ?? .system
    }
  }

  /// The options with which curl trusts the same authorities.
  var options: [String] {
    guard case .file(let file) = self else { return [] }
    // Without a directory of its own, curl trusts the machine's authorities too.
    return ["--cacert", file, "--capath", "/dev/null"]
  }

  /// Whether this user can't read the file.
  var isForbidden: Bool {
    guard case .file(let file) = self else { return false }
    return access(file, R_OK) != 0 && errno == EACCES
  }
}
