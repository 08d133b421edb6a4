import Foundation
import JSONRPC

extension Desk {
  /// A call by a process of another uid, without groups; the answer's whole object. Needs root.
  func call(asUid uid: Int, _ method: String, _ params: JSON) throws -> JSON {
    let script = """
      import os, socket, sys
      os.setgroups([])
      os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
      s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); f = s.makefile("rwb")
      f.write(sys.argv[3].encode() + b"\\n"); f.flush()
      sys.stdout.write(f.readline().decode())
      """
    let id = UUID().uuidString
    let file = try write("call-\(id).py", script)
    let request = JSONWriter.text(of: ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params])
    let out = folder.appendingPathComponent("out-\(id)")
    let program = try Program(
      "/usr/bin/python3", [file.path, socket, String(uid), request], output: out,
      log: folder.appendingPathComponent("err-\(id)"))
    guard program.exit(within: 30) == 0 else { throw Program.Failure(description: program.logText) }
    return try JSONParser.parse(try Data(contentsOf: out))
  }
}
