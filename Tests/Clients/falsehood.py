"""A false server: it speaks the protocol as a test tells it to, and keeps what it was sent."""
import ctypes, json, os, platform, queue, select, socket, threading

PATIENCE = 60
LIBC = ctypes.CDLL(None, use_errno=True)
SETRESUID = {"aarch64": 147}.get(platform.machine(), 117)


def become(uid):
    """Sets the effective user of this thread alone, whom the kernel reports to clients when it listens."""
    LIBC.syscall(ctypes.c_long(SETRESUID), ctypes.c_long(-1), ctypes.c_long(uid), ctypes.c_long(-1))


class Peer:
    """A connection of a client."""

    def __init__(self, connection):
        self._socket = connection
        connection.settimeout(PATIENCE)
        self._lines = connection.makefile("rb")

    def read(self):
        """The next message; `None` when the client has closed the connection."""
        line = self._lines.readline()
        return json.loads(line) if line else None

    def request(self, method):
        """The next message, which must be a request of this method."""
        message = self.read()
        assert message and message.get("method") == method, f"{method} was expected, not {message}"
        return message

    def send(self, *messages):
        self.raw(b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages))

    def raw(self, data):
        self._socket.sendall(data)

    def result(self, request, result):
        self.send({"id": request["id"], "result": result})

    def error(self, request, reason, code=-32050, **data):
        data = {"reason": reason, "retryable": True, **data}
        self.send({"id": request and request["id"], "error": {"code": code, "message": "A false error.", "data": data}})

    def push(self, data, limit, start=0):
        """Sends data again and again until the client has read nothing for a while, or is gone. Returns the bytes sent.

        `start` is the number of bytes that were sent before.
        """
        sent = 0
        while sent < limit:
            if not select.select([], [self._socket], [], 2)[1]:
                break
            try:
                sent += self._socket.send(data[(start + sent) % len(data):], socket.MSG_DONTWAIT)
            except BlockingIOError:
                continue
            except OSError:
                break
        return sent

    def close(self):
        # Without the shutdown the file object would keep the connection open.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._lines.close()
        self._socket.close()


class Falsehood:
    def __init__(self, path, uid=None):
        self.path, self.peers = path, queue.Queue()
        if os.path.exists(path):
            os.unlink(path)
        self._socket = socket.socket(socket.AF_UNIX)
        if uid is not None:
            become(uid)
        try:
            self._socket.bind(path)
            self._socket.listen(64)
        finally:
            if uid is not None:
                become(0)
        self._all = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._all.append(connection)
            self.peers.put(Peer(connection))

    def peer(self):
        """The next connection."""
        return self.peers.get(timeout=PATIENCE)

    def close(self):
        # Ends the thread, too.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for connection in self._all:
            connection.close()
        os.unlink(self.path)


def event(cursor, kind="instanceUpdated"):
    """An event as a notification of the subscription `s`."""
    body = {"cursor": cursor, "time": "2026-01-01T00:00:00.000Z", "instance": "desk", "kind": "zendesk.messaging",
            "type": kind, "data": {}}
    return {"method": "events.event", "params": {"subscription": "s", "event": body}}


def gap(resume):
    return {"method": "events.gap", "params": {"subscription": "s", "resume": resume}}
