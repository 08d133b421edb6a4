import Glibc
import SDKInstances
import SDKKinds
import SDKProtocol
import Testing

@testable import sdkd

/// The table `[network]`: the proxy, its credentials and exceptions, and the trusted certificates.
@Suite struct NetworkSettingsTests {
  private func load(
    _ table: String, _ prepare: (TemporaryConfiguration) throws -> Void = { _ in }
  ) throws -> ConfigurationLoader.Loaded {
    let files = try TemporaryConfiguration()
    try prepare(files)
    try files.write(files.main, "[network]\n" + table.replacing("DIR", with: files.directory) + "\n")
    return files.load()
  }

  @Test("A proxy is read with its credentials, exceptions and certificates")
  func whole() throws {
    let loaded = try load(
      """
      proxy = "http://Proxy.example:3128"
      proxy_credentials = { file = "DIR/secret" }
      proxy_exceptions = ["intranet.example.org", "10.0.0.0/8", "2001:db8::1"]
      """
    ) { try $0.write("secret", "user:hunter2\n", mode: 0o600) }
    #expect(loaded.lines == [])
    let network = loaded.configuration.network.options
    #expect(network.proxy == ProxyChoice("http://proxy.example:3128"))
    #expect(network.credentials == Secret("user:hunter2"))
    #expect(network.exceptions.entries == ["intranet.example.org", "10.0.0.0/8", "2001:db8::1"])
    #expect(!"\(loaded.configuration)".contains("hunter2"))
    let credential = try load("proxy = \"environment\"\nproxy_credentials = { credential = \"proxy\" }") {
      try $0.write("proxy", "user:hunter2", mode: 0o400)
    }
    #expect(credential.configuration.network.options.credentials == Secret("user:hunter2"))
  }

  @Test(
    "A mistake is named with its line, and never with a secret",
    arguments: [
      ("proxy = \"http://u:hunter2@p.example:1\"", "2 network.proxy", "must not hold credentials"),
      ("proxy = \"https://p.example:1\"", "2 network.proxy", "proxies over TLS and SOCKS proxies are not supported"),
      ("proxy = \"socks5://p.example:1\"", "2 network.proxy", "proxies over TLS and SOCKS proxies are not supported"),
      ("proxy = 3128", "2 network.proxy", "This must be"),
      ("proxy_exceptions = [\"https://x\"]", "2 network.proxy_exceptions[0]", "must be a host or domain"),
      ("proxy_credentials = \"u:hunter2\"", "2 network.proxy_credentials", "must be a table"),
      ("PROXY{ file = \"DIR/open\" }", "3 network.proxy_credentials.file", "can be read by others; chmod 600 it"),
      ("PROXY{ file = \"DIR/word\" }", "3 network.proxy_credentials", "must be USER:PASSWORD"),
      ("PROXY{ file = \"DIR/none\" }", "3 network.proxy_credentials.file", "does not exist"),
      ("PROXY{ credential = \"none\" }", "3 network.proxy_credentials.credential", "does not exist"),
      ("PROXY{ fil = \"x\" }", "3 network.proxy_credentials.fil", "did you mean file?"),
      ("PROXY{ }", "3 network.proxy_credentials", "A secret is text"),
      ("proxy_credentials = { file = \"DIR/good\" }", "2 network.proxy_credentials", "which is none"),
      ("ca_file = \"authorities.pem\"", "2 network.ca_file", "absolute path"),
      ("ca_file = \"DIR/none\"", "2 network.ca_file", "The file does not exist."),
      ("ca_file = \"DIR/word\"", "2 network.ca_file", "holds no certificates in the format PEM"),
    ])
  func mistakes(table: String, place: String, words: String) throws {
    let text = table.replacing("PROXY", with: "proxy = \"http://p.example:1\"\nproxy_credentials = ")
    let loaded = try load(text) {
      try $0.write("open", "u:hunter2", mode: 0o644)
      try $0.write("good", "u:hunter2", mode: 0o600)
      try $0.write("word", "hunter2", mode: 0o600)
    }
    #expect(loaded.places == [place], "\(loaded.lines)")
    #expect(loaded.lines.first?.contains(words) == true, "\(loaded.lines)")
    #expect(!loaded.lines.joined().contains("hunter2"))
  }
}
