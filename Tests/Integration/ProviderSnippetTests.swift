import Foundation
import JSONRPC
import Testing

/// The token provider that the guide shows, with external ids that mean something in a URL.
@Suite struct ProviderSnippetTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../..").standardizedFileURL

  /// Returns the script of a page that asks a backend with curl.
  private static func script(_ page: String) throws -> String {
    let text = try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
    let scripts = text.components(separatedBy: "```sh\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
    return try #require(scripts.first { $0.contains("https://backend.example/token") })
  }

  /// A backend that answers each request with a token for the user in its query, and notes its path.
  private static let backend = """
    import http.server, subprocess, sys, urllib.parse
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query, keep_blank_values=True)
            users = query.get("user", [])
            good = list(query) == ["user"] and len(users) == 1
            text = subprocess.run([sys.argv[1], "mint", "--external-id", users[0]], capture_output=True).stdout if good else b""
            self.send_response(200 if good else 400)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
        def log_message(self, *words): pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
    """

  @Test(
    "The provider of the page asks for the whole external id",
    arguments: ["alice", "a&admin=1#x", "a#b", "a b+c%41", "ä'\"$(id)`id`", "a&user=bob"])
  func externalIds(id: String) throws {
    let desk = try Desk.open()
    let output = desk.folder.appendingPathComponent("backend.out")
    let server = try Program(
      "/usr/bin/python3", [try desk.write("backend.py", Self.backend).path, Program.path("sdk-sandbox")],
      output: output, log: desk.folder.appendingPathComponent("backend.log"))
    var port = ""
    try eventually("the backend listens: \(server.logText)", within: 30) {
      port = (try? String(contentsOf: output, encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
      return !port.isEmpty
    }
    let script = try Self.script("Packaging/documentation/provider.md")
      .replacing("https://backend.example/", with: "http://127.0.0.1:\(port)/")
    let program = try desk.write("page-provider", script, mode: 0o755)
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: ["realtime": "off", "refresh": ["mode": "lazy", "min_interval": 0]],
      provider: ["command": [.string(program.path)]])
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint(id, ttl: 600))])
    // A token for anybody else would be refused.
    #expect(try line.call("token.refresh", ["instance": "desk"])["fromCache"] == false)
    #expect(try line.call("instance.currentUser", ["instance": "desk"])["externalId"] == .string(id))
  }
}
