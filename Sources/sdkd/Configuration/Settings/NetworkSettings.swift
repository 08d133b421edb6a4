import JSONRPC
import SDKInstances
import SDKKinds
import SDKProtocol

/// `[network]`.
struct NetworkSettings: SettingValues, Hashable {
  /// The hosts and domains that instances may connect to; `nil` for the vendors' own.
  var allow: [String]?
  /// The proxy, and the certificates to trust.
  var options = NetworkOptions()
}

extension NetworkSettings {
  static let table = SettingTable<Self>(
    name: "network", summary: "Where instances may connect to.",
    settings: [
      .setting(
        "allow", .array(.string(called: "host name or domain")), example: "[\"zendesk.com\", \"chat.example.org\"]",
        "Hosts, and domains with all below them; without this, the vendors' own domains."
      ) { reader, path, settings in
        settings.allow = reader.elements(String.self, at: path) {
          HostPattern.isValid($0)
            ? nil : "This must be a host or domain such as example.com, without scheme, port and path."
        }
      },
      .setting(
        "proxy", .string(called: "none, environment or http://HOST:PORT"), default: "\"none\"",
        "The HTTP proxy to the vendors. With environment it is what https_proxy, all_proxy and no_proxy name."
      ) { reader, path, settings in
        let proxy = reader.value(String.self, at: path) { text in
          if let mistake = ProxyChoice.mistake(in: text) { return "This \(mistake)" }
          return text == "environment" ? ProxyEnvironment.current.mistake : nil
        }
        if let proxy = proxy.flatMap({ ProxyChoice($0) }) { settings.options.proxy = proxy }
      },
      .setting(
        "proxy_credentials", reference, example: "{ credential = \"proxy\" }",
        "Where USER:PASSWORD for the proxy is: a credential of the unit, or { file = \"/PATH\" }."
      ) { reader, path, settings in
        let options = settings.options
        settings.options.credentials = credentials(reader, path, for: options.proxy)
      },
      .setting(
        "proxy_exceptions", .array(.string(called: "host name, domain or range of addresses")),
        example: "[\"intranet.example.org\", \"10.0.0.0/8\"]",
        "Hosts, and domains with all below them, that are reached without a proxy."
      ) { reader, path, settings in
        let exceptions = reader.elements(String.self, at: path) {
          HostPattern.isValid($0) || AddressRange($0) != nil
            ? nil : "This must be a host or domain such as example.com, an IP address, or a range such as 10.0.0.0/8."
        }
        settings.options.exceptions = ProxyExceptions(exceptions ?? [])
      },
      .setting(
        "ca_file", .string(called: "absolute path"), example: "\"/etc/sdkd/authorities.pem\"",
        "Certificates to trust instead of the system's."
      ) { $2.options.caFile = $0.value(String.self, at: $1, check: CertificateFile.mistake) },
    ])

  private static let reference = JSONSchema.object([
    .optional("credential", .string(), "the name of a credential of the unit"),
    .optional("file", .string(called: "absolute path"), "a file that others can't read"),
  ])

  private static func credentials(_ reader: ValueReader, _ path: String, for proxy: ProxyChoice) -> Secret? {
    guard let reference = reader.json(at: path)?.objectValue,
      reference.members.allSatisfy({
        ["credential", "file"].contains($0.key) && $0.value.stringValue != nil
      })
    else { return nil }
    do throws(SecretProblem) {
      let text = try reader.secrets.secret(reference)
      if let mistake = ProxyServer.mistake(inCredentials: text) {
        throw SecretProblem(message: "The secret \(mistake)")
      }
      if proxy == .none, !reader.log.has("network.proxy") {
        throw SecretProblem(message: "These are for the proxy of [network], which is none.")
      }
      return Secret(text)
    } catch {
      reader.log.add(error.member.map { path.appending(key: $0) } ?? path, error.message, nearest: error.nearest)
      return nil
    }
  }
}
