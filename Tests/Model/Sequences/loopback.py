"""A loopback server of HTTP and WebSocket that holds its answers back, fails some, and records each request."""
import asyncio, base64, hashlib, json, random, struct

PACES = {
    "quick": [0, 0.005], "mixed": [0, 0, 0.05, 0.1, 0.2, 0.4, 0.7], "slow": [0.3, 0.5, 0.8, 1.1]}
# A client that has given up closes the connection.
HANG = 8


class Refused(Exception):
    """A refusal of a backend: a status and a body."""


class Held:
    """How long an answer is held back, when the request takes effect, and how it fails."""

    def __init__(self, seed, pace, route, number, fault):
        draw = random.Random(f"{seed} {route} {number}")
        self.seconds, self.is_early, self.fault = draw.choice(PACES[pace]), draw.random() < 0.5, fault


class Loopback:
    """The server. A backend says what a request is and what it does: see `vendors.py`."""

    def __init__(self, seed, log, now):
        self.seed, self.log, self.now = seed, log, now
        # A mistake of the backend, which must not pass for an answer that never came.
        self.mistake = None
        self.pace, self.faults, self.holds, self.counts, self.open = "quick", {}, {}, {}, 0

    async def start(self, backend):
        self.backend = backend
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.address = "127.0.0.1:%d" % self.server.sockets[0].getsockname()[1]
        return self

    def base(self, kind, namespace=None, socket=False):
        """The URL of a backend, as `kinds.settings` asks for it."""
        return f"{'ws' if socket else 'http'}://{self.address}/{kind}"

    def close(self):
        self.server.close()

    # One request

    async def perform(self, route, entry, act):
        """Holds a request, lets it take effect, and returns status and body; `None` when there is no answer."""
        number = self.counts[route] = self.counts.get(route, 0) + 1
        faults = self.faults.get(route)
        held = Held(self.seed, self.pace, route, number, faults.pop(0) if faults else None)
        if route in self.holds:
            seconds, held.is_early = self.holds[route]
            held.seconds = seconds.pop(0) if len(seconds) > 1 else seconds[0]
        entry |= {"route": route, "arrived": self.now(), "acted": None, "answered": None, "status": None, "fault": held.fault}
        self.log.append(entry)
        self.open += 1
        try:
            if held.fault in ("503", "refusal"):
                await asyncio.sleep(held.seconds)
                return self.answer(entry, *self.backend.refusal(route, 503 if held.fault == "503" else 401))
            outcome = self.act(entry, act) if held.is_early else None
            await asyncio.sleep(held.seconds)
            outcome = outcome or self.act(entry, act)
            if held.fault == "hang":
                await asyncio.sleep(HANG)
            return None if held.fault else self.answer(entry, *outcome)
        finally:
            self.open -= 1

    def act(self, entry, act):
        try:
            outcome = act()
        except Refused as refused:
            return refused.args
        entry["acted"] = self.now()
        return outcome

    def answer(self, entry, status, body):
        entry |= {"answered": self.now(), "status": status}
        return status, body

    # HTTP

    async def serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                method, target, _ = head[0].split(" ")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
                if headers.get("upgrade", "").lower() == "websocket":
                    return await self.socket(reader, writer, headers)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                path = target.split("?")[0].strip("/").split("/")
                answer = await self.perform(*self.backend.request(method, path, headers, body))
                if answer is None:
                    return
                text = b"" if answer[1] is None else json.dumps(answer[1]).encode()
                head = f"HTTP/1.1 {answer[0]} X\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
                writer.write(head.encode() + text)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        except Exception as error:
            self.mistake = error
        finally:
            writer.close()

    # WebSocket (RFC 6455)

    async def socket(self, reader, writer, headers):
        key = headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        writer.write(
            f"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n".encode())
        session = {"headers": headers}
        while True:
            code, text = await self.frame(reader)
            if code == 8:
                return
            if code == 9:
                writer.write(bytes([0x8A, len(text)]) + text)
            if code != 1:
                continue
            message = json.loads(text)
            answer = await self.perform(*self.backend.message(session, message))
            if answer is None:
                return
            reply = {name: message[name] for name in ("action", "correlationId") if name in message} | {"data": answer[1]}
            text = json.dumps(reply).encode()
            size = bytes([len(text)]) if len(text) < 126 else b"\x7e" + struct.pack(">H", len(text))
            writer.write(b"\x81" + size + text)

    async def frame(self, reader):
        code, size = await reader.readexactly(2)
        size &= 0x7F
        if size > 125:
            size, = struct.unpack(">H" if size == 126 else ">Q", await reader.readexactly(2 if size == 126 else 8))
        mask = await reader.readexactly(4)
        return code & 0x0F, bytes(byte ^ mask[index % 4] for index, byte in enumerate(await reader.readexactly(size)))
