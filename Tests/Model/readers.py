"""Those who use instances of others: readers, callers of every method in any order, and callers who make mistakes."""
import time

import calls, kinds
from actors import Actor

USER_METHODS = {"instance.currentUser", "messaging.getCurrentUser"}


class Reader(Actor):
    """Asks for tokens and sessions, and checks whom they name."""

    def __init__(self, world, name, group):
        super().__init__(world, name)
        self.group = group

    def open(self):
        self.line = self.connect(self.world.uids[self.group])

    def step(self):
        drawn = [self.draw() for _ in range(self.random.choice([1, 1, 2, 5]))]
        since = time.monotonic()
        if self.random.random() < 0.1:
            ids = self.line.batch([(method, params) for _, method, params in drawn])
        else:
            ids = [self.line.send(method, params) for _, method, params in drawn]
        if self.random.random() < 0.1:
            self.line.notify("$/cancelRequest", {"id": self.random.choice(ids)})
        if self.random.random() < 0.02:
            self.line.close()
            self.lines.remove(self.line)
            return self.open()
        for id, (instance, method, params) in zip(ids, drawn):
            result, error = self.line.answer(id)
            until = time.monotonic()
            if instance.group not in (self.group, "w") and self.world.uids["a"] != self.world.uids["b"]:
                if not error or error["data"]["reason"] not in ("instanceNotFound", "cancelled", "shuttingDown"):
                    self.world.fail(f"{method} of a hidden instance answers {str(error or result)[:300]}", self.name)
            for user in self.named(instance, method, result or {}):
                self.world.check_user(instance, user, since, until, method, self.name)

    def draw(self):
        instance = self.random.choice([one for one in self.world.instances if one.group != "w" and (
            one.group == self.group or self.random.random() < 0.1)])
        method, more = self.random.choice([
            ("token.get", {}), ("token.get", {"minTTL": 300}), ("token.get", {"http": True, "timeout": 1}), ("session.open", {}),
            ("session.open", {"timeout": 3}), ("instance.currentUser", {}), ("instance.get", None), ("token.refresh", {}),
            ("token.reject", {"tokenId": self.world.token_id, "status": 401})])
        service = kinds.service(instance.letter)
        return instance, method, {"instance": instance.name} | ({} if more is None else service | more)

    def named(self, instance, method, result):
        """The users that a result names."""
        names, letter = self.world.names, instance.letter
        token = result if method.startswith("token.") else result.get("token")
        if token and token.get("token"):
            self.world.token_id = token["tokenId"]
            yield names.of_token(letter, token["token"])
        if method in USER_METHODS and letter in "me":
            yield names.of_user(letter, result)
        if method == "session.open" and result.get("user") and result["user"].get("authenticated"):
            yield names.of_user(letter, result["user"])


class Wild(Actor):
    """Calls every method, in any order, from connections that come and go."""

    def open(self):
        self.line = self.connect()

    def step(self):
        for _ in range(self.random.choice([1, 1, 3, 10])):
            self.call(self.random.choice(sorted(calls.SHARED | calls.CHANGES)))
        for id in list(self.line.waiting):
            self.line.answer(id)
        if self.random.random() < 0.05:
            self.close()
            self.open()

    def call(self, method):
        draw = calls.Draw(self.world, self.random, method in calls.CHANGES or method.startswith("delegate."))
        self.line.send(method, (calls.SHARED | calls.CHANGES)[method](draw))


class Careless(Actor):
    """Sends what breaks the contract; each request must still have one answer of the documented form."""

    BYTES = [
        b"\x00\xff\n", b"{\n", b"[]\n", b"[1,2]\n", b"\"x\"\n", b"\n\r\n", b"[" * 40 + b"]" * 40 + b"\n", b'{"jsonrpc":"2.0"}\n',
        b'{"jsonrpc":"2.0","id":{},"method":"daemon.info"}\n', b'{"jsonrpc":"2.0","id":7,"id":8,"method":"daemon.info"}\n',
        b'{"jsonrpc":"2.0","id":[],"method":"daemon.info"}\n', b"Content-Length: 3\r\n\r\n{}}", b"GET / HTTP/1.1\r\n\r\n",
        b"x" * (1 << 21), b'{"jsonrpc":"2.0","id":1,"method":"' + b"y" * 70000 + b'"}\n', b"Content-Length: -1\r\n\r\n"]

    def open(self):
        self.line = self.connect(strict=False)

    def step(self):
        if self.random.random() < 0.15:
            return self.raw()
        draw = calls.Draw(self.world, self.random, True)
        method = self.random.choice(sorted(calls.SHARED | calls.CHANGES))
        self.line.answer(self.line.send(*self.spoil(method, (calls.SHARED | calls.CHANGES)[method](draw))))

    def spoil(self, method, params):
        """Breaks one thing."""
        way = self.random.randint(0, 6)
        if way == 0:
            return method + "x", params
        if way == 1:
            return method, params | {"unknown" + "é" * 50: 1}
        if way == 2:
            return method, [params]
        if way == 3 or not params:
            return method, params | {"instance": self.random.choice(["", "UPPER", "x" * 65, "nobody", 7, None])}
        member = self.random.choice(sorted(params))
        if way == 4:
            return method, {name: value for name, value in params.items() if name != member}
        return method, params | {member: self.random.choice(
            [None, True, -1, 1e300, "", "\u0301" * 200, "x" * 70000, [[]], {"a": {"b": []}}, "\u0000"])}

    def raw(self):
        """Bytes on a connection of their own; the daemon may close it."""
        line = self.connect(strict=False)
        self.world.record(self.name, "→ 0 raw")
        try:
            line.socket.sendall(self.random.choice(self.BYTES))
            end = time.monotonic() + self.random.choice([0, 0.05])
            while time.monotonic() < end:
                received = line.socket.recv(1 << 16) if line.pump_ready() else b""
                for part in [one for one in received.split(b"\n") if one.startswith(b"{")]:
                    self.world.count("what is no request gets an error")
                    if b'"error"' not in part:
                        self.world.fail(f"nonsense is answered with {part[:300]}", self.name)
        except OSError:
            pass
        line.close()
        self.lines.remove(line)
