import Foundation
import JSONRPC

/// A desk with the instance `desk`, whose user has a token that lives a while and whose provider is a shell script.
struct BridgeDesk {
  let desk: Desk
  let line: Line
  let first: String

  /// A shell command that mints a token for the user in `SDKD_EXTERNAL_ID`.
  static let mint = "'\(Program.path("sdk-sandbox"))' mint --external-id \"$SDKD_EXTERNAL_ID\""

  /// Settings with which tokens are renewed only on demand.
  static let lazy: JSONObject = ["refresh": ["mode": "lazy", "min_interval": 0]]

  init(
    _ script: String = "exit 1", _ provider: JSONObject = [:], configuration: String? = nil, access: JSON? = nil,
    environment: [String: String] = [:]
  ) throws {
    desk = try Desk()
    if let configuration { try desk.write("sdkd.toml", configuration) }
    try desk.start(environment: environment, waits: environment["SDKD_JOURNAL_SOCKET"] == nil)
    let desk = desk
    try eventually("the daemon answers", within: 60) { (try? desk.connect()) != nil }
    line = try desk.connect()
    let base = try desk.provider(script).objectValue ?? [:]
    try desk.create(
      "desk", on: line, settings: Self.lazy, provider: .object(base.merged(with: provider)), access: access)
    first = try Vendor.mint("alice")
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(first)])
  }

  /// Returns the member `bridge` of the instance.
  func bridge() throws -> JSON { try line.call("instance.get", ["instance": "desk"])["bridge"] ?? .null }

  /// Changes the provider of the instance.
  func use(_ provider: JSON) throws { try line.call("instance.update", ["instance": "desk", "provider": provider]) }

  /// Makes the program at `path` the provider.
  func run(_ path: String) throws {
    try use(["command": [.string(path)]])
  }

  /// Returns the content of a file in the scratch folder; empty if there is no such file.
  func read(_ name: String) -> String {
    (try? String(contentsOf: desk.folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
  }

  /// Returns the path of a file in the scratch folder.
  func path(_ name: String) -> String { desk.folder.appendingPathComponent(name).path }
}
