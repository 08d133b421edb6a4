import Foundation
import JSONRPC

/// A proxy on loopback behind which every host is the same HTTPS server. It records each request, and answers with the
/// URL that the request's path or refresh token contains in hexadecimal form.
///
/// Its certificate is for `own.test`, `listed.test`, `eu.listed.test` and `attacker.test`.
final class TrapProxy {
  /// A request that has arrived.
  struct Arrival {
    /// The host and port that the proxy was asked for.
    var place: String
    var path: String
    /// The whole request.
    var text: String
  }

  let port: Int
  /// The path of the file with the server's certificate and its private key, which protects nothing.
  let caFile: String
  private let program: Program
  private let output: URL

  init(in desk: Desk) throws {
    caFile = Self.certificate.path
    let script = try desk.write("trap.py", Self.script)
    let output = desk.folder.appendingPathComponent("trap.out")
    self.output = output
    program = try Program(
      "/usr/bin/python3", [script.path, caFile], output: output, log: desk.folder.appendingPathComponent("trap.err"))
    let program = program
    var port = 0
    try eventually("the proxy listens: \(program.logText)", within: 30) {
      let first = (try? String(contentsOf: output, encoding: .utf8))?.split(separator: "\n").first
      port = first.flatMap { Int($0) } ?? 0
      return port > 0
    }
    self.port = port
  }

  /// The requests that have arrived, oldest first. An entry without text is a connection.
  var arrivals: [Arrival] {
    get throws {
      try String(contentsOf: output, encoding: .utf8).split(separator: "\n").dropFirst().map { line in
        let json = try JSONParser.parse(String(line))
        func text(_ name: String) -> String { json[name]?.stringValue ?? "" }
        return Arrival(place: text("place"), path: text("path"), text: text("text"))
      }
    }
  }

  /// Returns a text in hexadecimal form.
  static func hex(_ text: String) -> String {
    text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static let certificate = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Fixtures/places.pem")

  private static let script = """
    import json, re, socket, ssl, sys, threading, urllib.parse
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1])
    lock = threading.Lock()
    def say(value):
        with lock:
            print(value, flush=True)
    def named(text):
        found = re.search("hex([0-9a-f]+)", text)
        return bytes.fromhex(found[1]).decode() if found else None
    def answer(method, path, body):
        target = named(path) or named(body)
        if "/redirect" in path:
            return 307, {}, "https://attacker.test/stolen"
        if path.endswith(".json"):
            return 200, {"sunco_config": {"app": {"id": "a"}, "baseURL": {"ios": target}}}, None
        if path.endswith("/oauth2/token"):
            tokens = {"access_token": "AT-next"}
            return 200, tokens | {"instance_url": target} if target else tokens, None
        if path.endswith("/login"):
            realtime = {"enabled": True, "baseUrl": target}
            return 200, {"appUser": {"_id": "u1"}, "settings": {"realtime": realtime} if target else {}}, None
        return 200, {"id": "0Mp1"}, None
    def serve(client):
        reader = client.makefile("rb")
        place = reader.readline().decode().split(" ")[1]
        while reader.readline().strip():
            pass
        say(json.dumps({"place": place}))
        client.sendall(b"HTTP/1.1 200 OK\\r\\n\\r\\n")
        server = context.wrap_socket(client, server_side=True)
        reader = server.makefile("rb")
        while True:
            line = reader.readline().decode("latin-1")
            if not line:
                return
            method, path, _ = line.split(" ")
            head, length = line, 0
            while True:
                field = reader.readline().decode("latin-1")
                head += field
                if field.lower().startswith("content-length:"):
                    length = int(field.split(":")[1])
                if not field.strip():
                    break
            body = reader.read(length).decode("latin-1")
            say(json.dumps({"place": place, "path": path, "text": head + body}))
            status, value, location = answer(method, path, body)
            text = json.dumps(value)
            more = "Location: " + location + "\\r\\n" if location else ""
            head = "HTTP/1.1 %d X\\r\\n%sContent-Length: %d\\r\\n\\r\\n" % (status, more, len(text))
            server.sendall((head + text).encode())
    def attempt(client):
        try:
            serve(client)
        except (OSError, ValueError, IndexError):
            pass
        finally:
            client.close()
    listener = socket.create_server(("127.0.0.1", 0))
    say(listener.getsockname()[1])
    while True:
        client, _ = listener.accept()
        threading.Thread(target=attempt, args=(client,), daemon=True).start()
    """
}
