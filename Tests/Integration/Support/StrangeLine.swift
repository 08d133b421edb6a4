import Foundation
import Glibc
import JSONRPC

/// A connection of another user's process, which passes lines in both directions.
final class StrangeLine {
  private let program: Program
  private let input: Int32
  private let output: FileHandle
  private var buffer = Data()
  private var lastID = 0

  private static let script = """
    import os, socket, sys, threading
    uid = int(sys.argv[2])
    os.setgroups([]); os.setgid(uid); os.setuid(uid)
    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
    def write():
      for line in sys.stdin.buffer: s.sendall(line)
    threading.Thread(target=write, daemon=True).start()
    for line in s.makefile("rb"):
      sys.stdout.buffer.write(line); sys.stdout.buffer.flush()
    """

  init(_ desk: Desk, uid: Int) throws {
    let file = try desk.write("line.py", Self.script)
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Program.Failure(description: "no pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    input = ends[1]
    let out = desk.folder.appendingPathComponent("line-\(UUID().uuidString)")
    program = try Program(
      "/usr/bin/python3", [file.path, desk.socket, "\(uid)"], output: out,
      log: desk.folder.appendingPathComponent("line.err"),
      input: ends[0])
    try eventually("its output is there") { FileManager.default.fileExists(atPath: out.path) }
    output = try FileHandle(forReadingFrom: out)
  }

  deinit { close(input) }

  /// Returns the next message.
  func next(within seconds: Double = 20) throws -> JSON {
    var line: Data?
    try eventually("a line comes: \(program.logText)", within: seconds) {
      buffer += output.readDataToEndOfFile()
      guard let end = buffer.firstIndex(of: 10) else { return false }
      line = buffer[..<end]
      buffer = Data(buffer[buffer.index(after: end)...])
      return true
    }
    return try JSONParser.parse(line ?? Data())
  }

  /// Makes a call and returns its result. Messages that arrive before the response are dropped.
  @discardableResult
  func call(_ method: String, _ params: JSON = [:]) throws -> JSON {
    lastID += 1
    let request: JSON = ["jsonrpc": "2.0", "id": JSON(lastID), "method": .string(method), "params": params]
    let text = JSONWriter.bytes(of: request)
    _ = (text + [10]).withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
    while true {
      let message = try next()
      guard message["id"]?.intValue == lastID else { continue }
      if let error = message["error"].flatMap({ RPCError(json: $0) }) { throw error }
      return message["result"] ?? .null
    }
  }
}
