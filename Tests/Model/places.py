"""The places that URLs lead to: a proxy of its own process, behind which each host is an HTTPS server.

`own.test` and `listed.test` are the sandbox's vendors, who now and then repeat a request's secrets or supply the URL of another
place. All other places belong to nobody. Standard input has the ways in which the vendors fail next; standard output says
what has arrived.
"""
import base64, http.client, json, os, re, socket, ssl, sys, threading, urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from secrets_of import APP_SECRET, secrets

SANDBOX, CERTIFICATE = sys.argv[1], sys.argv[2]
VENDORS = {"own.test:443", "listed.test:443", "eu.listed.test:443"}
LOCK = threading.Lock()
WAYS, NUMBER = [], [0]


def say(**record):
    with LOCK:
        print(json.dumps(record), flush=True)


def take(*names):
    """The next way that has one of these names."""
    with LOCK:
        for way in WAYS:
            if way["way"] in names:
                WAYS.remove(way)
                return way


def obey():
    for line in sys.stdin:
        way = json.loads(line)
        with LOCK:
            WAYS.clear() if way["way"] == "none" else WAYS.append(way)
            del WAYS[:-20]
    os._exit(0)


# What a vendor repeats

FORMS = {
    "plain": str, "json": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"), "twice": lambda text: FORMS["json"](FORMS["json"](text)),
    "percent": lambda text: urllib.parse.quote(text, safe=""), "form": lambda text: urllib.parse.quote_plus(FORMS["percent"](text)),
    "base64": lambda text: base64.b64encode(text.encode()).decode(), "basic": lambda text: FORMS["base64"]("app:" + text),
    "lower": str.lower, "piece": lambda text: text[3:40]}


def words(found, way):
    """A harmless word with the number of this time, and the secrets."""
    with LOCK:
        NUMBER[0] += 1
        number = NUMBER[0]
    say(echo=number, secrets=sorted(found))
    return f"moonlight-{number} " + " or ".join(FORMS[way["form"]](secret) for secret in sorted(found))


def body(shape, text):
    return [
        {"error": {"code": text, "description": text}}, {"error": "invalid_request", "error_description": text},
        {"error": text, "errorDetails": text}, [{"errorCode": text, "message": text}],
        {"error": "UNAUTHORIZED", "errorDetails": text}, {"success": False, "error": text, "details": text}][shape % 6]


def echo(server, found, way):
    text = words(found, way)
    line = re.sub(r"[\x00-\x1f]", " ", text).encode().decode("latin-1")
    if way["at"] == "body":
        return answer(server, way["status"], [("Content-Type", "application/json")], json.dumps(body(way["shape"], text)))
    if way["at"] == "location":
        secret = urllib.parse.quote(sorted(found)[0], safe="")
        return answer(server, 307, [("Location", f"{way['to']}/{secret}?{line}")], "")
    names = ["WWW-Authenticate", "Content-Encoding", "Retry-After", "Date", "X-Reason"]
    return answer(server, 200 if way["shape"] % 2 else way["status"], [(name, line) for name in names], "<")


def answer(server, status, headers, text):
    data = text if isinstance(text, bytes) else text.encode()
    head = "".join(f"{name}: {value}\r\n" for name, value in headers)
    length = "" if status in (204, 304) else f"Content-Length: {len(data)}\r\n"
    server.sendall(f"HTTP/1.1 {status} X\r\n{head}{length}\r\n".encode("latin-1") + data)


# The vendors

def relay(server, host, request):
    """Passes a request to the sandbox, whose URLs become those of this place, or of one that the way names."""
    method, path, headers, data = request
    upstream = http.client.HTTPConnection(SANDBOX, timeout=60)
    upstream.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers:
        upstream.putheader(name, value)
    upstream.endheaders(data)
    reply, is_whole = upstream.getresponse(), True
    try:
        text = reply.read()
    except http.client.IncompleteRead as cut:
        text, is_whole = cut.partial, False
    upstream.close()
    text = text.replace(f"http://{host}".encode(), f"https://{host}".encode()).replace(f"ws://{host}".encode(), f"wss://{host}".encode())
    own = re.compile(rb"(https|wss)://" + re.escape(host.encode()))
    if own.search(text) and (way := take("lead")):
        to = way["to"].encode()
        text = own.sub(lambda found: to if found[1] == b"https" else to.replace(b"http", b"ws", 1), text)
        say(led=way["to"])
    kept = [(name, value) for name, value in reply.getheaders() if name.lower() not in ("content-length", "connection", "transfer-encoding")]
    answer(server, reply.status, kept, text if is_whole else text + b"x" * 100)
    if not is_whole:
        raise OSError("the vendor cut the answer")


def frame(reader):
    """The bytes of the next frame of a WebSocket, its opcode and its text."""
    head = reader.read(2)
    if len(head) < 2:
        raise OSError("the socket has ended")
    more = {126: 2, 127: 8}.get(head[1] & 127, 0)
    long = reader.read(more)
    length = int.from_bytes(long, "big") if more else head[1] & 127
    mask = reader.read(4) if head[1] & 128 else b""
    if length > 1 << 24:
        raise OSError("a frame of a hostile vendor has no end")
    data = reader.read(length)
    shown = bytes(byte ^ mask[index % 4] for index, byte in enumerate(data)) if mask else data
    return head + long + mask + data, head[0] & 15, shown.decode(errors="replace")


def wrap(opcode, data):
    length = bytes([len(data)]) if len(data) < 126 else b"\x7e" + len(data).to_bytes(2, "big")
    return bytes([128 | opcode]) + length + data


def refusal(text, found, way):
    """The frames with which a vendor refuses a message and repeats what was sent."""
    said = words(found, way)
    if way["way"] == "close":
        return wrap(8, (4401).to_bytes(2, "big") + said.encode()[:120])
    message = json.loads(text)
    if isinstance(message, list):
        parts = [{name: one[name] for name in ("channel", "id", "clientId") if name in one} for one in message]
        reply = [part | {"successful": False, "error": said} for part in parts]
    else:
        reply = {name: message[name] for name in ("action", "correlationId") if name in message}
        reply["data"] = {"error": "UNAUTHORIZED" if way["shape"] % 2 else said, "errorDetails": said}
    return wrap(1, json.dumps(reply)[:60_000].encode())


def tunnel(server, reader, head, found):
    """A WebSocket: frames go both ways, each as a whole."""
    upstream, sending = socket.create_connection(SANDBOX.split(":")), threading.Lock()

    def back():
        try:
            there = upstream.makefile("rb")
            while (line := there.readline()).strip():
                server.sendall(line)
            server.sendall(b"\r\n")
            while True:
                data = frame(there)[0]
                with sending:
                    server.sendall(data)
        except OSError:
            pass
        finally:
            close(server)

    upstream.sendall(head)
    threading.Thread(target=back, daemon=True).start()
    try:
        while True:
            data, opcode, text = frame(reader)
            if opcode == 1 and (sent := found | secrets(text)) and (way := take("close", "frame")):
                with sending:
                    server.sendall(refusal(text, sent, way))
            else:
                upstream.sendall(data)
    finally:
        close(upstream)


def close(end):
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    end.close()


def vendor(server, place):
    host, reader = place.split(":")[0], server.makefile("rb")
    while line := reader.readline():
        method, path, _ = line.decode("latin-1").split(" ")
        head, headers = line, []
        while True:
            field = reader.readline()
            head += field
            if not field.strip():
                break
            name, value = field.decode("latin-1").split(":", 1)
            headers.append((name, value.strip()))
        named = {name.lower(): value for name, value in headers}
        data = reader.read(int(named.get("content-length", 0)))
        sent = "\n".join(value for _, value in headers) + "\n" + data.decode(errors="replace")
        found = secrets(sent)
        if APP_SECRET in found:
            say(app=place, path=path)
        if named.get("upgrade", "").lower() == "websocket":
            return tunnel(server, reader, head, found)
        if found and (way := take("echo")):
            echo(server, found, way)
        else:
            relay(server, host, (method, path, headers, data))


def serve(client, context):
    reader = client.makefile("rb", 0)
    place = reader.readline().decode().split(" ")[1].lower()
    while reader.readline().strip():
        pass
    say(connected=place)
    if place in VENDORS:
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        client = context.wrap_socket(client, server_side=True)
        vendor(client, place)
    close(client)


def nobody(client, _):
    client.settimeout(2)
    say(connected="nobody", text=client.recv(4096).decode(errors="replace"))
    close(client)


def attempt(handle, client, context):
    try:
        handle(client, context)
    except (OSError, ValueError, IndexError, http.client.HTTPException):
        close(client)


def listen(listener, handle, context):
    while True:
        client = listener.accept()[0]
        threading.Thread(target=attempt, args=(handle, client, context), daemon=True).start()


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    proxy, stray = (socket.create_server(("127.0.0.1", 0), backlog=256) for _ in range(2))
    threading.Thread(target=listen, args=(stray, nobody, context), daemon=True).start()
    threading.Thread(target=listen, args=(proxy, serve, context), daemon=True).start()
    say(proxy=proxy.getsockname()[1], nobody=stray.getsockname()[1])
    obey()


main()
