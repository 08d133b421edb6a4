import Foundation

/// A host on loopback with the Messaging backend of a test at two base URLs. The former one fails as the test says; the
/// present one forwards all requests to the sandbox. The URLs in responses have the base URL of the request.
final class MovedBackend {
  /// The ways in which the former base URL fails.
  enum Failure: String, CaseIterable, Sendable {
    case notFound = "404"
    case serverError = "503"
    /// It doesn't answer.
    case silence
    /// It closes the connection.
    case cut
  }

  let former: String
  let present: String
  private let program: Program
  private let mode: URL

  init(in desk: Desk) throws {
    mode = try desk.write("host-mode", "forward")
    let script = try desk.write("host.py", Self.script)
    let target = try desk.vendor.messaging
    let output = desk.folder.appendingPathComponent("host.out")
    program = try Program(
      "/usr/bin/python3", [script.path, target, mode.path], output: output,
      log: desk.folder.appendingPathComponent("host.err"))
    let program = program
    var port = 0
    try eventually("the host listens: \(program.logText)", within: 30) {
      let first = (try? String(contentsOf: output, encoding: .utf8))?.split(separator: "\n").first
      port = first.flatMap { Int($0) } ?? 0
      return port > 0
    }
    let path = target.split(separator: "/").dropFirst(2).joined(separator: "/")
    former = "http://127.0.0.1:\(port)/former/\(path)"
    present = "http://127.0.0.1:\(port)/\(path)"
  }

  /// Makes the former base URL fail from the next request on.
  func fail(_ failure: Failure) throws { try Data(failure.rawValue.utf8).write(to: mode) }

  private static let script = """
    import http.client, http.server, socket, sys, threading, time, urllib.parse
    target = urllib.parse.urlsplit(sys.argv[1]).netloc
    class Host(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def log_message(self, *words):
            pass
        def answer(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            own, mode = "127.0.0.1:%d" % server.server_port, "forward"
            if self.path.startswith("/former/"):
                self.path, own = self.path[7:], own + "/former"
                # It never had a realtime socket.
                mode = "404" if self.headers.get("upgrade") else open(sys.argv[2]).read().strip()
            if mode == "silence":
                time.sleep(60)
            if mode in ("cut", "silence"):
                self.close_connection = True
                return self.connection.close()
            if mode != "forward":
                return self.reply(int(mode), b"{}")
            if self.headers.get("upgrade"):
                return self.join()
            onward = http.client.HTTPConnection(target)
            headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
            onward.request(self.command, self.path, body, headers)
            answer = onward.getresponse()
            self.reply(answer.status, answer.read().replace(target.encode(), own.encode()))
        def reply(self, status, body):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        def join(self):
            self.close_connection = True
            host, port = target.split(":")
            onward = socket.create_connection((host, int(port)))
            head = "".join("%s: %s\\r\\n" % item for item in self.headers.items())
            onward.sendall(("GET %s HTTP/1.1\\r\\n%s\\r\\n" % (self.path, head)).encode())
            def copy(one, other):
                try:
                    while data := one.recv(65536):
                        other.sendall(data)
                except OSError:
                    pass
                for each in (one, other):
                    try:
                        each.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass
            threading.Thread(target=copy, args=(onward, self.connection), daemon=True).start()
            copy(self.connection, onward)
        do_GET = do_POST = do_PUT = do_DELETE = answer
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host)
    server.daemon_threads = True
    server.handle_error = lambda *_: None
    print(server.server_port, flush=True)
    server.serve_forever()
    """
}
