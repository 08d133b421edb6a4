import Foundation
import Glibc
import JSONRPC

/// A client in Python, of another user or of root, that does what no decent client would.
final class Stranger {
  private let program: Program
  private let output: URL

  /// What a script has to begin with: `path`, and `Line` with `send`, `read`, `call`.
  private static let prelude = """
    import json, os, resource, select, socket, sys, time
    path, uid = sys.argv[1], int(sys.argv[2])
    if uid:
        os.setgroups([]); os.setgid(uid); os.setuid(uid)
    class Line:
        def __init__(self):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(path)
            self.socket.settimeout(30)
            self.file = self.socket.makefile("rb")
        def send(self, text):
            self.socket.sendall(text.encode() + b"\\n")
        def begin(self, id, method, **params):
            self.send(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
        def read(self):
            line = self.file.readline()
            return json.loads(line) if line else None
        def call(self, method, **params):
            self.begin(1, method, **params)
            return self.read()
    def reason(answer):
        return answer and answer.get("error", {}).get("data", {}).get("reason")
    def say(value):
        print(json.dumps(value), flush=True)

    """

  init(_ desk: Desk, uid: Int = 0, _ script: String) throws {
    let name = "stranger-\(UUID().uuidString.prefix(8))"
    let file = try desk.write("\(name).py", Self.prelude + script)
    output = desk.folder.appendingPathComponent("\(name).out")
    program = try Program(
      "/usr/bin/python3", [file.path, desk.socket, "\(uid)"], output: output,
      log: desk.folder.appendingPathComponent("\(name).err"))
  }

  func signal(_ number: Int32) { program.signal(number) }

  /// The lines that it has said.
  var said: [JSON] {
    get throws {
      let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
      return try text.split(separator: "\n").map { try JSONParser.parse(String($0)) }
    }
  }

  /// The first thing that it said, waited for.
  func word(within seconds: Double = 60) throws -> JSON {
    try eventually("a client says something: \(program.logText)", within: seconds) {
      try !said.isEmpty || program.exit(within: 0) != nil
    }
    guard let first = try said.first else { throw Program.Failure(description: program.logText) }
    return first
  }

  /// Waits for its end, and gives what it said last.
  @discardableResult
  func end(within seconds: Double = 120) throws -> JSON {
    guard program.exit(within: seconds) == 0 else { throw Program.Failure(description: program.logText) }
    return try said.last ?? .null
  }

  var isRunning: Bool { program.exit(within: 0) == nil }

  /// Ends it without warning.
  func kill() {
    program.signal(SIGKILL)
    _ = program.exit(within: 10)
  }
}

extension Desk {
  /// A client of another user (or of root, uid 0): its last word.
  func play(uid: Int = 0, _ script: String) throws -> JSON { try Stranger(self, uid: uid, script).end() }
}
