"""A driver program: one client library behind a line protocol on standard input and output."""
import itertools, json, queue, subprocess, threading

PATIENCE = 60


class Failed(Exception):
    """An error that the client reported. `error` has its members."""

    def __init__(self, error):
        super().__init__(f"{error.get('reason')}: {error.get('message', '')}")
        self.error = error


class Pending:
    """A command in progress."""

    def __init__(self, driver, number, text):
        self._driver, self.number, self._text = driver, number, text
        self._arrived, self._message = threading.Event(), None

    def settle(self, message):
        self._message = message
        self._arrived.set()

    @property
    def is_done(self):
        return self._arrived.is_set()

    def wait(self):
        """Returns the result. Raises `Failed`."""
        assert self._arrived.wait(PATIENCE), f"no outcome within {PATIENCE} s: {self._text}"
        assert self._message is not None, f"the driver has ended: {self._driver.errors()}"
        if "error" in self._message:
            raise Failed(self._message["error"])
        return self._message["result"]

    def fails(self):
        """Returns the error."""
        try:
            result = self.wait()
        except Failed as failure:
            return failure.error
        raise AssertionError(f"{self._text} succeeded: {result}")


class Driver:
    def __init__(self, words, environment, log):
        self._log = open(log, "wb+")
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True, env=environment)
        self._numbers, self._pending, self._lock = itertools.count(1), {}, threading.Lock()
        #: What the delegate was asked, and which questions were cancelled.
        self.questions = queue.Queue()
        self._greeting = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.can = self._greeting.get(timeout=PATIENCE)
        assert self.can is not None, f"the driver has ended: {self.errors()}"

    def _read(self):
        for line in self._process.stdout:
            message = json.loads(line)
            if "id" in message:
                with self._lock:
                    pending = self._pending.pop(message["id"])
                pending.settle(message)
            elif "can" in message:
                self._greeting.put(message["can"])
            else:
                self.questions.put(message)
        self._greeting.put(None)
        with self._lock:
            for pending in self._pending.values():
                pending.settle(None)

    def errors(self):
        self._log.seek(0)
        return self._log.read().decode(errors="replace")[-2000:]

    def _write(self, message):
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def begin(self, do, **arguments):
        """Sends a command. Returns it as `Pending`."""
        message = {"id": next(self._numbers), "do": do, **arguments}
        pending = Pending(self, message["id"], json.dumps(message)[:300])
        with self._lock:
            self._pending[message["id"]] = pending
        self._write(message)
        return pending

    def do(self, do, **arguments):
        return self.begin(do, **arguments).wait()

    def cancel(self, pending):
        self._write({"do": "cancel", "target": pending.number})

    def connect(self, socket, client="main", **options):
        return self.begin("connect", socket=socket, client=client, options=options)

    def call(self, method, client="main", deadline=None, **params):
        return self.begin("call", method=method, params=params, deadline=deadline, client=client)

    def events(self, stream, client="main", instances=None, since=None):
        return self.do("events", stream=stream, client=client, instances=instances, since=since)

    def take(self, stream, deadline=None):
        return self.begin("take", stream=stream, deadline=deadline)

    def attach(self, stream, instances, mode="answer", token=None, timeout=None):
        return self.begin("attach", stream=stream, instances=instances, mode=mode, answer={"token": token}, timeout=timeout)

    def close(self):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        self._process.stdin.close()
        self._log.close()
