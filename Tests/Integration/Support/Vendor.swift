import Foundation
import Glibc
import JSONRPC

/// A test's own namespace in the sandbox that all tests share.
struct Vendor {
  private static let shared = Result { try SharedSandbox() }

  let namespace: String

  /// The base URL of the Messaging backend.
  var messaging: String { get throws { try base("zm") } }

  /// Returns the base URL of the backend with this prefix, such as `zs`; with `socket` for WebSockets.
  func base(_ prefix: String, socket: Bool = false) throws -> String {
    let url = try Self.shared.get().url
    return "\(socket ? "ws" + url.dropFirst(4) : url)/ns/\(namespace)/\(prefix)"
  }

  /// The lifetime in seconds of a token whose end a test waits for. The end is a whole second, and the steps before it
  /// must be in time on a busy machine too.
  static let shortLife = 5

  /// Returns a JWT made by the sandbox's own mint.
  static func mint(_ externalId: String, ttl: Int? = 3600, _ more: [String] = []) throws -> String {
    let life = ttl.map { ["--ttl=\($0)"] } ?? ["--no-exp"]
    return try output("sdk-sandbox", ["mint", "--external-id", externalId] + life + more)
  }

  /// Runs a program of the package to its end and returns its standard output, trimmed.
  static func output(_ name: String, _ arguments: [String]) throws -> String {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    let log = file.appendingPathExtension("err")
    defer {
      try? FileManager.default.removeItem(at: file)
      try? FileManager.default.removeItem(at: log)
    }
    let program = try Program(name, arguments, output: file, log: log)
    guard program.exit(within: 30) == 0 else { throw Program.Failure(description: "\(name): \(program.logText)") }
    return try String(contentsOf: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Scripts the responses of a route.
  func script(_ script: JSON) throws { _ = try request("POST", "/_control", script) }

  /// Releases hung requests and removes all scripts.
  func clearScripts() throws { _ = try request("DELETE", "/_control") }

  /// Makes the vendor refuse the tokens that a user has had so far.
  func revoke(_ externalId: String) throws { _ = try request("POST", "/_revoke", ["externalId": .string(externalId)]) }

  /// Returns the requests that have arrived, oldest first. Messaging's realtime sockets, which come and go, are left
  /// out.
  func log() throws -> [JSON] { try wholeLog().filter { !Self.isRealtime($0) } }

  /// Returns the arrivals on Messaging's realtime sockets, oldest first: the request for each and its frames.
  func realtimeLog() throws -> [JSON] { try wholeLog().filter(Self.isRealtime) }

  private func wholeLog() throws -> [JSON] { try request("GET", "/_log")["requests"]?.arrayValue ?? [] }

  private static func isRealtime(_ entry: JSON) -> Bool {
    entry["path"]?.stringValue?.hasSuffix("/zm/faye") ?? false
  }

  /// Waits until at least `count` requests have arrived, and returns all of them.
  func log(atLeast count: Int) throws -> [JSON] {
    var entries: [JSON] = []
    try eventually("\(count) requests have reached the vendor") {
      entries = try log()
      return entries.count >= count
    }
    return entries
  }

  /// Returns the number of requests that have arrived with this method and a path that ends with `suffix`.
  func count(_ method: String, _ suffix: String) throws -> Int {
    try log().count { $0["method"]?.stringValue == method && ($0["path"]?.stringValue ?? "").hasSuffix(suffix) }
  }

  /// Sends a control request to this test's namespace, such as `POST /_options`.
  @discardableResult
  func request(_ method: String, _ path: String, _ body: JSON? = nil) throws -> JSON {
    try Self.shared.get().request(method, "/ns/\(namespace)\(path)", body)
  }
}

/// The sandbox process of the whole test run.
private final class SharedSandbox: @unchecked Sendable {
  private let program: Program
  let port: UInt16
  var url: String { "http://127.0.0.1:\(port)" }

  init() throws {
    let base = FileManager.default.temporaryDirectory.appendingPathComponent("sandbox-\(UUID().uuidString.prefix(8))")
    let output = base.appendingPathExtension("out")
    program = try Program("sdk-sandbox", ["--port", "0"], output: output, log: base.appendingPathExtension("err"))
    var text = ""
    try eventually("the sandbox listens", within: 30) {
      text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
      return text.contains("\n")
    }
    guard let port = text.split(separator: "\n").first?.split(separator: ":").last.flatMap({ UInt16($0) }) else {
      throw Program.Failure(description: "the sandbox's first line is \(text)")
    }
    self.port = port
    try? FileManager.default.removeItem(at: output)
    try? FileManager.default.removeItem(at: base.appendingPathExtension("err"))
    atexit { SharedSandbox.kill?() }
    let pid = program.pid
    SharedSandbox.kill = { _ = Glibc.kill(pid, SIGTERM) }
  }

  nonisolated(unsafe) private static var kill: (() -> Void)?

  func request(_ method: String, _ path: String, _ body: JSON?) throws -> JSON {
    let descriptor = socket(AF_INET, Program.streamSocket, 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    guard connected == 0 else { throw Program.Failure(description: "the sandbox can't be reached") }
    let payload = body.map { JSONWriter.bytes(of: $0) } ?? []
    let head =
      "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\nContent-Type: application/json\r\n"
      + "Content-Length: \(payload.count)\r\n\r\n"
    var bytes = Array(head.utf8) + payload
    while !bytes.isEmpty {
      let count = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      guard count > 0 else { throw Program.Failure(description: "the sandbox closed the connection") }
      bytes.removeFirst(count)
    }
    var answer: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &chunk, chunk.count, 0)
      guard count > 0 else { break }
      answer += chunk[..<count]
    }
    return try Self.body(of: answer)
  }

  private static func body(of answer: [UInt8]) throws -> JSON {
    let separator: [UInt8] = [13, 10, 13, 10]
    guard let start = answer.indices.first(where: { answer[$0...].starts(with: separator) }) else {
      throw Program.Failure(description: "the sandbox's answer has no end of its head")
    }
    let head = String(decoding: answer[..<start], as: UTF8.self)
    var body = Array(answer[(start + 4)...])
    if head.lowercased().contains("transfer-encoding: chunked") { body = dechunked(body) }
    guard head.hasPrefix("HTTP/1.1 2") else {
      throw Program.Failure(
        description: "the sandbox answered \(head.prefix(40)): \(String(decoding: body, as: UTF8.self))")
    }
    return body.isEmpty ? .null : try JSONParser.parse(body)
  }

  private static func dechunked(_ body: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = body[...]
    while let end = rest.firstIndex(of: 10) {
      let size = Int(String(decoding: rest[..<end], as: UTF8.self).trimmingCharacters(in: .whitespaces), radix: 16) ?? 0
      guard size > 0, rest.distance(from: end, to: rest.endIndex) > size else { break }
      result += rest[(end + 1)..<(end + 1 + size)]
      rest = rest[(end + 1 + size)...].dropFirst(2)
    }
    return result
  }
}
