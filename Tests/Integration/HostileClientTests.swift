import Foundation
import Glibc
import JSONRPC
import Testing

/// Malicious clients of other users: the other clients are always served, and all resources are released.
@Suite(.enabled(if: getuid() == 0, "needs root to start processes of other users"))
struct HostileClientTests {
  private static let limits = "[limits]\nframe_timeout = \"1s\"\nwrite_timeout = \"1s\"\n"

  private func withstand(
    memory: Int = 192 << 20, uid: Int = 1001, clients: Int = 1, _ script: String
  ) throws -> [JSON] {
    let desk = try Desk.open(configuration: Self.limits)
    var said: [JSON] = []
    try desk.withstand(memory: memory) {
      try (0..<clients).map { _ in try Stranger(desk, uid: uid, script) }
    }
    for file in try FileManager.default.contentsOfDirectory(atPath: desk.folder.path) where file.hasSuffix(".out") {
      let text = try String(contentsOf: desk.folder.appendingPathComponent(file), encoding: .utf8)
      said += try text.split(separator: "\n").map { try JSONParser.parse(String($0)) }
    }
    return said
  }

  @Test func halfSentFramesAreClosedInTime() throws {
    let said = try withstand(
      """
      lines = [Line() for _ in range(100)]
      for n, line in enumerate(lines): line.socket.sendall(b'{"jsonrpc":' + b" " * n)
      say(len([line for line in lines if line.read() is None]))
      """)
    #expect(said == [100])
  }

  @Test("Headers that lie, never end or have no text cost their connection, and get an error")
  func badHeadersAreAnsweredAndClosed() throws {
    let said = try withstand(
      """
      texts = [b"Content-Length: 5\\r\\n\\r\\n{", b"Content-Le", b"C: d\\r\\n" * 16, b"Content-Length: 1\\r\\n" * 2,
               b"Content-Length: 9223372036854775808\\r\\n\\r\\n", b"Content-Length: -1\\r\\n", b"C" + b"x" * 5000,
               b"Content-Length: 1048577\\r\\n\\r\\n" + b"x" * 65536, b"Content-Length: 60000\\r\\n\\r\\n" + b"[" * 60000,
               b"Content-Length: 0\\r\\n\\r\\n" * 40 + b"Co", b"Content-Length: 2\\r\\n\\r\\n{}" * 40 + b"{}\\n"]
      lines = [Line() for _ in range(110)]
      for n, line in enumerate(lines):
          # The daemon may have closed while it is still sent to.
          try: line.socket.sendall(texts[n % len(texts)])
          except OSError: pass
          if n % len(texts) == 8: line.socket.shutdown(socket.SHUT_WR)
      good = 0
      for n, line in enumerate(lines):
          sizes, errors = [], []
          try:
              while header := line.file.readline():
                  name, value = header.split(b": ")
                  assert name == b"Content-Length" and line.file.readline() == b"\\r\\n"
                  errors.append(json.loads(line.file.read(int(value)))["error"]["code"])
          except OSError: pass
          good += errors[-1:] == [-32600]
      say(good)
      """)
    #expect(said == [110])
  }

  @Test func peersThatNeverReadAreClosed() throws {
    let said = try withstand(
      """
      lines = [Line() for _ in range(30)]
      request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"}).encode() + b"\\n"
      poller = select.poll()
      for line in lines:
          line.socket.setblocking(False)
          poller.register(line.socket, select.POLLOUT)
      # They go on asking and read nothing, until the daemon has had enough.
      closed, end = set(), time.time() + 60
      while len(closed) < len(lines) and time.time() < end:
          for fd, event in poller.poll(100):
              line = next(l for l in lines if l.socket.fileno() == fd)
              try:
                  if event & (select.POLLHUP | select.POLLERR): raise BrokenPipeError
                  line.socket.send(request * 20)
              except BlockingIOError: pass
              except OSError:
                  closed.add(fd); poller.unregister(fd)
      say(len(closed))
      """)
    #expect(said == [30])
  }

  @Test func junkWithoutAnEndIsClosedAtTheLimit() throws {
    let said = try withstand(
      """
      sent, reasons, piece = 0, set(), b"1" * 65536
      while sent < 64 << 20:
          line = Line()
          try:
              while True: sent += line.socket.send(piece)
          except OSError: pass
          try: reasons.add(reason(line.read()))
          except OSError: pass
      say(sorted(r for r in reasons if r))
      """)
    #expect(said == [["frameTooLarge"]])
  }

  @Test(arguments: [1001, 0]) func aFloodOfShortLinesIsReadAtItsPace(uid: Int) throws {
    _ = try withstand(
      uid: uid, clients: 2,
      """
      pieces = [b"1\\n" * 30000, b"{}\\n[]\\n" * 9000, b'{"jsonrpc":"2.0","id":1,"method":"daemon.info"}\\n' * 1200]
      lines = [Line() for _ in range(8)]
      left = {line: 64 << 17 for line in lines}
      for line in lines: line.socket.setblocking(False)
      end = time.time() + 5
      while time.time() < end and left:
          readable, writable, _ = select.select(list(l.socket for l in left), list(l.socket for l in left), [], 0.1)
          for n, line in enumerate(list(left)):
              try:
                  if line.socket in readable: line.socket.recv(1 << 20)
                  if line.socket in writable: left[line] -= line.socket.send(pieces[n % 3])
              except BlockingIOError: pass
              except OSError: del left[line]
      """)
  }

  @Test func nonsenseIsAnsweredOnceEach() throws {
    let said = try withstand(
      """
      sys.set_int_max_str_digits(0)
      line = Line()
      texts = ["[" * 60000, "[" * 60000 + "]" * 60000, '{"a":' * 9000 + "1" + "}" * 9000,
               '{"jsonrpc":"2.0","id":1,"id":1,"method":"x"}', "{" + ",".join(f'"k{n % 1999}":1' for n in range(2000)) + "}",
               '{"jsonrpc":"2.0","id":' + "9" * 60000 + ',"method":"daemon.info"}', "1e999999999", "-" + "0" * 50000,
               '{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"instance":"x","minTTL":1e400}}',
               '{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"instance":"x","minTTL":' + "9" * 400 + "}}",
               '{"jsonrpc":"2.0","id":1,"method":"' + "m" * 60000 + '"}', '"' + "\\\\ud800" * 9000 + '"',
               "[" + ",".join(["1"] * 64) + "]", "[" + ",".join(["1"] * 65) + "]", "[" + ",".join(["{}"] * 20000) + "]",
               '{"jsonrpc":"2.0","id":1,"method":"storage.put","params":{"instance":"x","key":"k","value":'
               + "[" + ",".join(["1"] * 500000) + "]}}"]
      for _ in range(3):
          for text in texts:
              line.send(text)
              assert line.read() is not None, text[:60]
      say(line.call("daemon.info")["result"]["name"])
      """)
    #expect(said == ["sdkd"])
  }

  @Test func connectAndDropCostsNothing() throws {
    _ = try withstand(
      clients: 2,
      """
      ends = [b"", b"{", b'{"jsonrpc":"2.0","id":1,"method":"daemon.info"}\\n', b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n",
              b"\\x00\\xff\\n", b'{"jsonrpc":"2.0","id":1,"method":"events.subscribe"}\\n']
      for n in range(2000):
          line = Line()
          try: line.socket.sendall(ends[n % len(ends)])
          except OSError: pass
          line.socket.close(); line.file.close()
      """)
  }

  @Test func batchesOfNothingValidAreAnsweredMemberByMember() throws {
    let said = try withstand(
      """
      line, count = Line(), 0
      for _ in range(50):
          line.send("[" + ",".join(["1", "{}", '""', "null"] * 16) + "]")
          count += len(line.read())
      say(count)
      """)
    #expect(said == [3200])
  }

  @Test func cancellationsOfEverythingDisturbNobody() throws {
    let said = try withstand(
      """
      line = Line()
      for n in range(3000):
          line.send(json.dumps({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": n % 7}}))
          if n % 1000 == 0:
              line.begin("kept", "daemon.info")
              line.send(json.dumps({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "kept"}}))
              assert line.read()["id"] == "kept"
      line.send(json.dumps({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": [1]}}))
      line.send(json.dumps({"jsonrpc": "2.0", "id": "d1", "result": "an answer to no question"}))
      say(line.call("daemon.info")["result"]["name"])
      """)
    #expect(said == ["sdkd"])
  }

  @Test func aThousandIdleConnectionsCostLittle() throws {
    let said = try withstand(
      uid: 0,
      """
      soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
      resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
      lines = [Line() for _ in range(1000)]
      # All stay while one after the other is asked, twice.
      say([len([line for line in lines if "result" in line.call("daemon.info")]) for _ in range(2)])
      """)
    #expect(said == [[1000, 1000]])
  }
}
