import Glibc
import JSONRPC
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
  ///   - settings: the settings in the configuration's files; `nil` if they are not known.
  ///   - process: the daemon's process.
  init(_ settings: FileSettings?, process: Int?) {
    guard let settings else {
      self = .unknown
      return
    }
    var found = settings["network.ca_file"]?.stringValue.map { TrustedAuthorities.file($0) } ?? .system
    if found == .system {
      let text = process.flatMap { BoundedFile.text(at: "/proc/\($0)/environ", limit: 1 << 20) }
      found = text.map { TrustedAuthorities(inEnvironment: $0) } ?? .unknown
    }
    self = found
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
