import Foundation
import Glibc
import JSONRPC

/// A process with a given user, groups and control group that makes calls on a connection of its own.
struct Caller {
  /// Its user.
  var uid: Int
  /// Its group; by default the number of its user.
  var gid: Int?
  /// Its supplementary groups.
  var groups: [Int] = []
  /// A folder of the control groups' file system that it is moved into before it connects.
  var controlGroup: String?
  /// Whether a different process connects, which has ended by the time of the calls.
  var isOrphaned = false

  private static let script = """
    import json, os, socket, sys
    s = socket.socket(socket.AF_UNIX)
    if sys.argv[3] == "orphaned":
        child = os.fork()
        if child == 0:
            s.connect(sys.argv[1])
            os._exit(0)
        os.waitpid(child, 0)
    else:
        s.connect(sys.argv[1])
    f = s.makefile("rwb")
    for line in open(sys.argv[2]):
        f.write(line.encode()); f.flush()
        while True:
            answer = f.readline().decode()
            if not answer or "id" in json.loads(answer):
                break
        sys.stdout.write(answer)
    """

  /// Makes calls and returns the lines of the responses, unchanged.
  func lines(_ desk: Desk, _ calls: [(method: String, params: JSON)]) throws -> [String] {
    let id = UUID().uuidString
    let script = try desk.write("caller.py", Self.script)
    let requests = try desk.write(
      "requests-\(id)",
      calls.map {
        JSONWriter.text(of: ["jsonrpc": "2.0", "id": 1, "method": .string($0.method), "params": $0.params]) + "\n"
      }.joined())
    let group = gid ?? uid
    let member = groups.isEmpty ? "--clear-groups" : "--groups=\(groups.map(String.init).joined(separator: ","))"
    let move = controlGroup.map { "echo $$ > '\($0)/cgroup.procs' || exit 9; " } ?? ""
    let out = desk.folder.appendingPathComponent("out-\(id)")
    let program = try Program(
      "/bin/sh",
      [
        "-c",
        "\(move)exec setpriv --reuid=\(uid) --regid=\(group) \(member) /usr/bin/python3 '\(script.path)' '\(desk.socket)' "
          + "'\(requests.path)' \(isOrphaned ? "orphaned" : "own")",
      ], output: out, log: desk.folder.appendingPathComponent("err-\(id)"))
    guard program.exit(within: 60) == 0 else { throw Program.Failure(description: program.logText) }
    return try String(contentsOf: out, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  /// Makes one call and returns the response.
  func call(_ desk: Desk, _ method: String, _ params: JSON = [:]) throws -> JSON {
    let lines = try lines(desk, [(method, params)])
    guard let line = lines.first else { throw Program.Failure(description: "no answer to \(method)") }
    return try JSONParser.parse(line)
  }

  /// Makes one call and returns the reason of its error; `nil` when it succeeds.
  func reason(_ desk: Desk, _ method: String, _ params: JSON = [:]) throws -> String? {
    try call(desk, method, params)["error"]?["data"]?["reason"]?.stringValue
  }
}
