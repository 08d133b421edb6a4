"""A connection to the daemon: requests, their answers, and what the daemon sends by itself."""
import ctypes, itertools, json, os, platform, select, socket, struct, time

import replies

LIBC = ctypes.CDLL(None, use_errno=True)
SETRESUID, SETRESGID = {"aarch64": (147, 149)}.get(platform.machine(), (117, 119))
PATIENCE = 60


class Lost(Exception):
    """The daemon or the connection has ended: whether the calls without an answer were run is unknown."""


def become(uid, gid=None):
    """Sets the effective user and group of this thread alone, which the daemon sees when it connects."""
    ids = {SETRESGID: uid if gid is None else gid, SETRESUID: uid}
    for number in (SETRESGID, SETRESUID) if uid else (SETRESUID, SETRESGID):
        LIBC.syscall(ctypes.c_long(number), ctypes.c_long(-1), ctypes.c_long(ids[number]), ctypes.c_long(-1))


class Line:
    def __init__(self, world, owner, uid=None, strict=True, gid=None):
        """`strict` is off for connections on which an answer without an id is expected. The group is the user's own by default."""
        self.world, self.owner, self.uid, self.strict, self.gid = world, owner, uid, strict, gid
        self.ids, self.waiting, self.answers = itertools.count(1), {}, {}
        self.buffer, self.life = b"", None
        self.notified = self.asked = lambda method, params, *id: None
        self.connect()

    def connect(self):
        while True:
            self.world.check_running()
            life = self.world.daemon.life
            if not self.world.daemon.is_ending and self.attempt():
                self.life = life
                return
            time.sleep(0.02)

    def attempt(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        changes = self.uid is not None and self.uid != os.geteuid()
        try:
            if changes:
                become(self.uid, self.gid)
            self.socket.connect(self.world.daemon.socket)
            return True
        except OSError:
            self.socket.close()
            return False
        finally:
            if changes:
                become(0)

    def close(self):
        self.socket.close()

    # Sending

    def write(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            self.lose()

    def send(self, method, params=None, end=b"\n"):
        id = next(self.ids)
        self.waiting[id] = (method, params)
        self.world.calls[method] += 1
        self.world.record(self.owner, f"→ {id} {method} {json.dumps(params)[:160]}")
        self.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}).encode() + end)
        return id

    def batch(self, calls):
        """Sends several calls in one message. Returns their ids."""
        ids, members = [], []
        for method, params in calls:
            id = next(self.ids)
            ids.append(id)
            self.waiting[id] = (method, params)
            self.world.calls[method] += 1
            members.append({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        self.world.record(self.owner, f"→ batch {[method for method, _ in calls]}")
        self.write(json.dumps(members).encode() + b"\n")
        return ids

    def notify(self, method, params):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n")

    def reply(self, id, **outcome):
        self.write(json.dumps({"jsonrpc": "2.0", "id": id} | outcome).encode() + b"\n")

    # Receiving

    def lose(self):
        """The end of the connection, which only the driver may bring about."""
        self.socket.close()
        end = time.monotonic() + 2
        while time.monotonic() < end:
            if self.world.daemon.is_ending or self.world.daemon.life != self.life:
                raise Lost()
            self.world.check_running()
            time.sleep(0.02)
        if self.strict:
            self.world.fail("the daemon closed a connection that broke no rule", self.owner)
        raise Lost()

    def pump_ready(self):
        return bool(select.select([self.socket], [], [], 0.01)[0])

    def pump(self, seconds):
        """Handles what has come, and waits so long for it. Returns whether anything came."""
        while b"\n" not in self.buffer:
            try:
                if not select.select([self.socket], [], [], seconds)[0]:
                    return False
                data = self.socket.recv(1 << 16)
            except OSError:
                data = b""
            if not data:
                self.lose()
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        self.handle(line)
        return True

    def handle(self, line):
        value = replies.read(self.world, line)
        parts = value if isinstance(value, list) else [value]
        calls = [self.waiting.get(part.get("id")) for part in parts if "method" not in part]
        if not self.strict and len(self.waiting) == 1 and parts[0].get("id", 0) is None:
            # A text that is refused before it is decoded has no id.
            parts[0]["id"] = next(iter(self.waiting))
        method = "batch" if isinstance(value, list) else calls[0][0] if calls and calls[0] else None
        replies.check(self.world, line, value, method)
        self.world.overheard(self, line, calls)
        for part in parts:
            if "method" in part:
                if "id" in part:
                    self.asked(part["method"], part["params"], part["id"])
                else:
                    self.notified(part["method"], part["params"])
            elif part.get("id") in self.waiting:
                self.waiting.pop(part["id"])
                self.world.record(self.owner, f"← {json.dumps(part)[:240]}")
                self.answers[part["id"]] = part
            elif self.strict or part.get("id") is not None:
                self.world.fail(f"an answer that nothing asked for: {line[:300]}", self.owner)

    def answer(self, id):
        """The result and the error of a call; one of them is `None`."""
        end = time.monotonic() + PATIENCE
        while id not in self.answers:
            if time.monotonic() > end:
                self.world.fail(f"no answer within {PATIENCE} s: {self.waiting.get(id)}", self.owner)
            self.world.check_running()
            self.pump(0.5)
        self.world.count("a request has exactly one answer")
        part = self.answers.pop(id)
        return part.get("result"), part.get("error")

    def call(self, method, params=None):
        return self.answer(self.send(method, params))
