import Foundation
import JSONRPC
import Testing

/// JSON-RPC libraries of others as clients, in both framings.
@Suite struct CounterpartFramingTests {
  /// Runs a client, which calls methods, gets an error, follows events and stores a long text. Then it is a delegate.
  private func run(_ command: [String], isDelegate: Bool = true) throws {
    let desk = try Desk.open()
    let token = try Vendor.mint("alice", ttl: 7200)
    let settings: JSON = [
      "base_url": .string(try desk.vendor.messaging), "app_id": .string(Desk.app),
      "refresh": ["mode": "lazy", "min_interval": 0],
    ]
    let instance: JSON = ["instance": "desk", "kind": "zendesk.messaging", "settings": settings]
    let client = try PipedProgram(
      command[0], Array(command.dropFirst()) + [desk.socket, JSONWriter.text(of: instance), token], in: desk.folder)
    try client.waitForLines(1)
    let said = try JSONParser.parse(client.lines[0])
    #expect(said["name"] == "sdkd")
    #expect(said["code"] == -32002)
    #expect(said["event"] == "instanceCreated")
    #expect(said["stored"] == true)
    guard isDelegate else { return }
    let line = try desk.connect()
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice", ttl: 60))])
    #expect(try line.call("token.refresh", ["instance": "desk"])["token"]?.stringValue == token)
  }

  /// Compiles a client in a desk's folder, and returns its path.
  private func compile(_ command: [String], environment: [String: String] = [:], in desk: Desk) throws -> String {
    let program = desk.folder.appendingPathComponent("client").path
    let compiler = try Counterpart.run(
      command[0], command.dropFirst().map { $0 == "PROGRAM" ? program : $0 }, in: desk, environment: environment,
      within: 300)
    #expect(compiler.status == 0, "\(compiler.output)")
    return program
  }

  @Test("GLib's jsonrpc-glib is a client and a delegate, with headers")
  func glib() throws {
    try Counterpart.require("/usr/lib/python3/dist-packages/gi/__init__.py", package: "python3-gi")
    try Counterpart.require("/usr/share/doc/gir1.2-jsonrpc-1.0", package: "gir1.2-jsonrpc-1.0")
    try run(["/usr/bin/python3", Counterpart.script("clients/glib.py")])
  }

  @Test(
    "Python's libraries are clients and delegates, with headers and with lines",
    arguments: [("pylsp_jsonrpc", "python-lsp-jsonrpc", "pylsp.py"), ("aiojsonrpc2", "aiojsonrpc2", "aiojsonrpc2.py")])
  func python(module: String, package: String, script: String) throws {
    let folder = try Counterpart.pythonPackage(module, package: package)
    try run([
      "/usr/bin/env", "PYTHONPATH=\(URL(fileURLWithPath: folder).deletingLastPathComponent().path)",
      "/usr/bin/python3", Counterpart.script("clients/\(script)"),
    ])
  }

  @Test("Sourcegraph's jsonrpc2 in Go is a client and a delegate, with headers")
  func sourcegraph() throws {
    let go = try Counterpart.require("/usr/bin/go", package: "golang-go")
    try Counterpart.require(
      "/usr/share/gocode/src/github.com/sourcegraph/jsonrpc2", package: "golang-github-sourcegraph-jsonrpc2-dev")
    let desk = try Desk()
    let cache = desk.folder.appendingPathComponent("cache").path
    let program = try compile(
      [go, "build", "-o", "PROGRAM", Counterpart.script("clients/sourcegraph.go")],
      environment: ["GOPATH": "/usr/share/gocode", "GO111MODULE": "off", "GOCACHE": cache], in: desk)
    try run([program])
  }

  @Test("libjson-rpc-cpp is a client, with lines and a connection for each call")
  func jsonrpccpp() throws {
    let compiler = try Counterpart.require("/usr/bin/g++", package: "g++")
    try Counterpart.require("/usr/include/jsonrpccpp/client.h", package: "libjsonrpccpp-dev")
    let desk = try Desk()
    let program = try compile(
      [
        compiler, "-std=c++14", "-w", "-o", "PROGRAM", Counterpart.script("clients/jsonrpccpp.cpp"),
        "-ljsonrpccpp-client", "-ljsonrpccpp-common", "-ljsoncpp",
      ], in: desk)
    try run([program], isDelegate: false)
  }
}
