import Foundation
import JSONRPC

extension Desk {
  /// Makes calls one after the other, on one connection of a process of this uid.
  ///
  /// - Returns: the answers.
  @discardableResult
  func calls(
    uid: Int, _ method: String, _ params: JSON, times: Int = 1, within seconds: Double = 60
  ) throws -> [JSON] {
    let script = """
      import os, socket, sys
      uid, count = int(sys.argv[2]), int(sys.argv[4])
      os.setgroups([]); os.setgid(uid); os.setuid(uid)
      s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); f = s.makefile("rwb")
      for _ in range(count):
          f.write(sys.argv[3].encode() + b"\\n"); f.flush()
          sys.stdout.write(f.readline().decode())
      """
    let file = try write("calls.py", script)
    let runner = try write("calls", "#!/bin/sh\nexec python3 '\(file.path)' '\(socket)' \"$@\"\n", mode: 0o755)
    let request = JSONWriter.text(of: ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params])
    let name = UUID().uuidString
    let out = folder.appendingPathComponent("out-\(name)")
    let program = try Program(
      runner.path, ["\(uid)", request, "\(times)"], output: out, log: folder.appendingPathComponent("err-\(name)"))
    guard program.exit(within: seconds) == 0 else { throw Program.Failure(description: program.logText) }
    return try String(contentsOf: out, encoding: .utf8).split(separator: "\n").map { try JSONParser.parse(String($0)) }
  }

  /// Runs `sdkctl audit` with these arguments. Returns its exit status, the records and its standard error.
  func audit(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> (status: Int32, records: [JSON], error: String) {
    let name = UUID().uuidString
    let out = folder.appendingPathComponent("out-\(name)")
    let program = try Program(
      "sdkctl", ["audit", "-o", "jsonl"] + arguments, environment: environment, output: out,
      log: folder.appendingPathComponent("err-\(name)"))
    guard let status = program.exit(within: 60) else { throw Program.Failure(description: "sdkctl runs on") }
    let text = try String(contentsOf: out, encoding: .utf8)
    return (status, try text.split(separator: "\n").map { try JSONParser.parse(String($0)) }, program.logText)
  }

  /// The file that the daemon's first start writes its log to.
  var firstLog: String { folder.appendingPathComponent("log1").path }
}
