import JSONRPC
import SDKProtocol
import Testing

@testable import DelegateBridge

@Suite struct ProviderConfigurationTests {
  @Test func readsTheExampleOfTheDesign() throws {
    let provider = try ProviderConfiguration(
      json: #"""
        {"command": ["/usr/libexec/front-desk-token", "--audience", "support"], "format": "exec-credential",
         "timeout": "90s", "environment": {"ORG": "acme"}, "pass_environment": ["LANG"],
         "working_directory": "/var", "max_output": "1MiB", "concurrency": 2}
        """#)
    #expect(provider.arguments == ["/usr/libexec/front-desk-token", "--audience", "support"])
    #expect(provider.format == .execCredential)
    #expect(provider.timeout == Seconds(literal: 90))
    #expect(provider.environment == ["ORG": "acme"])
    #expect(provider.passEnvironment == ["LANG"])
    #expect(provider.workingDirectory == "/var")
    #expect(provider.maxOutput.bytes == 1_048_576)
    #expect(provider.concurrency == 2)
    #expect(try JSONValueDecoder.decode(from: JSONValueEncoder.encode(provider)) == provider)
  }

  @Test func defaults() throws {
    let provider = try ProviderConfiguration(json: #"{"command": ["/bin/true"]}"#)
    #expect(provider == ProviderConfiguration(command: ["/bin/true"]))
    #expect(provider.maxOutput.bytes == 65_536)
    #expect(provider.timeout.value == 10)
  }

  @Test func shellTakesOneText() throws {
    let provider = try ProviderConfiguration(json: #"{"command": "echo $HOME | tr a b", "shell": true}"#)
    #expect(provider.arguments == ["/bin/sh", "-c", "echo $HOME | tr a b"])
    #expect(try JSONValueDecoder.decode(from: JSONValueEncoder.encode(provider)) == provider)
  }

  @Test(arguments: [
    (#"{}"#, "needs a command"),
    (#"{"unit": "front/desk"}"#, "NAME of sdkd-provider-NAME.socket"), (#"{"unit": ""}"#, "NAME of"),
    (#"{"command": ["/a"], "unit": "b"}"#, "a command or a unit, not both"),
    (#"{"unit": "b", "working_directory": "/"}"#, "in the unit's own files"),
    (#"{"command": []}"#, "must not be empty"),
    (#"{"command": ["true"]}"#, "absolute path"),
    (#"{"command": "/bin/true"}"#, "needs shell = true"),
    (#"{"command": ["/bin/true"], "shell": true}"#, "is one text"),
    (#"{"command": "", "shell": true}"#, "must not be empty"),
    (#"{"command": ["/a\u0000b"]}"#, "NUL"),
    (#"{"command": ["/a"], "timeout": 0}"#, "timeout must be"),
    (#"{"command": ["/a"], "timeout": "11m"}"#, "timeout must be"),
    (#"{"command": ["/a"], "max_output": "2MiB"}"#, "from 1 byte to 1MiB"),
    (#"{"command": ["/a"], "max_output": 0}"#, "from 1 byte to 1MiB"),
    (#"{"command": ["/a"], "max_output": "64KB"}"#, "64KiB"),
    (#"{"command": ["/a"], "working_directory": "var"}"#, "absolute path"),
    (#"{"command": ["/a"], "environment": {"A-B": "x"}}"#, "no name of a variable"),
    (#"{"command": ["/a"], "environment": {"": "x"}}"#, "no name of a variable"),
    (#"{"command": ["/a"], "environment": {"1A": "x"}}"#, "no name of a variable"),
    (#"{"command": ["/a"], "environment": {"A": "\u0000"}}"#, "NUL"),
    (#"{"command": ["/a"], "environment": {"LD_PRELOAD": "x"}}"#, "belongs to the daemon"),
    (#"{"command": ["/a"], "environment": {"SDKD_KIND": "x"}}"#, "belongs to the daemon"),
    (#"{"command": ["/a"], "pass_environment": ["NOTIFY_SOCKET"]}"#, "belongs to the daemon"),
    (#"{"command": ["/a"], "pass_environment": ["LISTEN_FDS"]}"#, "belongs to the daemon"),
    (#"{"command": ["/a"], "pass_environment": ["WATCHDOG_USEC"]}"#, "belongs to the daemon"),
    (#"{"command": ["/a"], "pass_environment": ["CREDENTIALS_DIRECTORY"]}"#, "belongs to the daemon"),
  ]) func refuses(text: String, why: String) throws {
    let error = #expect(throws: DecodingError.self) { try ProviderConfiguration(json: text) }
    #expect(error.map { "\($0)".contains(why) } == true)
  }

  @Test(arguments: [
    (#"{"command": ["/a"], "time_out": 1}"#, "timeout"), (#"{"command": ["/a"], "concurrency": 0}"#, "concurrency"),
    (#"{"command": ["/a"], "format": "yaml"}"#, "format"),
  ]) func shapeRefuses(text: String, member: String) throws {
    let error = #expect(throws: JSONSchemaViolation.self) { try ProviderConfiguration(json: text) }
    #expect(error?.sentence.contains(member) == true)
  }

  @Test(arguments: [("0", 0), ("12", 12), ("12B", 12), ("3KiB", 3072), ("2MiB", 2_097_152)])
  func readsSizes(text: String, bytes: Int) { #expect(ByteCount(text: text)?.bytes == bytes) }

  @Test(arguments: ["", "KiB", "-1", "+1", "1.5KiB", "9223372036854775807KiB", "1GiB", "1 KiB"])
  func refusesSizes(text: String) { #expect(ByteCount(text: text) == nil) }

  @Test("The units of a tenant's providers contain the tenant's name")
  func unitNames() {
    #expect(UnitName.unit("front-desk", socketsIn: "/run/sdkd-providers") == "sdkd-provider-front-desk")
    #expect(UnitName.unit("front-desk", socketsIn: "/run/sdkd-providers/acme") == "sdkd-provider-acme-front-desk")
    #expect(UnitName.unit("front-desk", socketsIn: "/run/other") == "sdkd-provider-front-desk")
    let socket = UnitSocket(name: "front-desk", folder: "/run/sdkd-providers/acme")
    #expect(socket.journal == "journalctl -u 'sdkd-provider-acme-front-desk@*'")
  }
}
