import Foundation
import Glibc
import JSONRPC

/// A misbehaving client in Python that runs as another user or as root.
final class Stranger {
  private let program: Program
  private let output: URL

  /// The start of every script: `path`, `Line` with `send`, `begin`, `read` and `call`, and the functions `reason` and
  /// `say`.
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

  /// The values that the script has passed to `say`, in order.
  var said: [JSON] {
    get throws {
      let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
      return try text.split(separator: "\n").map { try JSONParser.parse(String($0)) }
    }
  }

  /// Waits for the script's first value, and returns it.
  func word(within seconds: Double = 60) throws -> JSON {
    try eventually("a client says something: \(program.logText)", within: seconds) {
      try !said.isEmpty || program.exit(within: 0) != nil
    }
    guard let first = try said.first else { throw Program.Failure(description: program.logText) }
    return first
  }

  /// Waits for the script's end, and returns its last value.
  @discardableResult
  func end(within seconds: Double = 120) throws -> JSON {
    guard program.exit(within: seconds) == 0 else { throw Program.Failure(description: program.logText) }
    return try said.last ?? .null
  }

  var isRunning: Bool { program.exit(within: 0) == nil }

  /// Kills the script.
  func kill() {
    program.signal(SIGKILL)
    _ = program.exit(within: 10)
  }
}

extension Desk {
  /// Runs a script as another user, or as root with uid 0. Returns its last value.
  func play(uid: Int = 0, _ script: String) throws -> JSON { try Stranger(self, uid: uid, script).end() }
}
