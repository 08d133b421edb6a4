"""A connection to the daemon that has any number of calls in progress, and writes each into the record."""
import asyncio, json

import replies


class Line:
    def __init__(self, number, record, now):
        self.number, self.record, self.now = number, record, now
        self.open, self.waiting, self.writer = {}, {}, None
        self.asked = self.withdrawn = lambda *_: None

    async def connect(self, path):
        self.reader, self.writer = await asyncio.open_unix_connection(path, limit=1 << 20)
        self.listening = asyncio.ensure_future(self.listen(self.reader))

    def close(self):
        """Ends the connection. Calls without an answer stay without one."""
        if self.writer:
            self.listening.cancel()
            self.writer.close()
        for future in self.waiting.values():
            future.cancel()
        self.open, self.waiting, self.writer = {}, {}, None

    def write(self, message):
        self.writer.write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")

    def send(self, method, params, **more):
        """Sends a call. Returns its entry of the record."""
        entry = more | {"n": len(self.record["calls"]), "line": self.number, "method": method, "params": params,
                        "sent": self.now(), "answered": None, "result": None, "error": None}
        self.record["calls"].append(entry)
        self.open[entry["n"]] = entry
        self.waiting[entry["n"]] = asyncio.get_running_loop().create_future()
        self.write({"id": entry["n"], "method": method, "params": params})
        return entry

    async def rest(self, seconds):
        """Waits until all calls are answered. Returns whether they are."""
        if self.waiting:
            await asyncio.wait(self.waiting.values(), timeout=seconds)
        return not self.waiting

    async def call(self, method, params, seconds=30):
        entry = self.send(method, params)
        future = self.waiting[entry["n"]]
        await asyncio.wait([future], timeout=seconds)
        return entry

    async def listen(self, reader):
        try:
            while text := await reader.readline():
                self.handle(json.loads(text))
        except (ConnectionError, asyncio.CancelledError):
            pass

    def handle(self, message):
        method = message.get("method")
        if method == "events.event":
            self.record["events"].append(message["params"]["event"] | {"at": self.now()})
        elif method == "$/cancelRequest":
            self.withdrawn(message["params"]["id"])
        elif method and "id" in message:
            self.asked(message["id"], message["params"])
        elif message.get("id") in self.open:
            entry = self.open.pop(message["id"])
            entry |= {"answered": self.now(), "result": message.get("result"), "error": message.get("error")}
            if error := entry["error"]:
                problem = replies.error(error, entry["method"]) or replies.leak(json.dumps(error))
                self.record["problems"] += [problem] if problem else []
            self.waiting.pop(message["id"]).set_result(None)
