"""The real daemon, the vendors' sandbox, and a false server, for the tests of the client libraries."""
import itertools, json, os, shutil, signal, socket, subprocess, tempfile, threading, time

PATIENCE = 60
CONFIGURATION = """[events]
retention = { age = "7d", count = %d }
[shutdown]
grace = "5s"
[delegate]
grace = "5s"
[limits]
calls_per_second = 5000
"""


def eventually(what, condition):
    """Waits until a condition holds. Returns its value."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"within {PATIENCE} s not: {what}")


class World:
    """A scratch folder with a daemon and the sandbox."""

    def __init__(self, binaries, retention=100_000):
        self.binaries, self.process = binaries, None
        self.folder = tempfile.mkdtemp(prefix="sdkd-clients-")
        os.chmod(self.folder, 0o755)
        self.socket = os.path.join(self.folder, "s")
        self.log = os.path.join(self.folder, "log")
        os.mkdir(os.path.join(self.folder, "instances.d"))
        with open(os.path.join(self.folder, "sdkd.toml"), "w") as file:
            file.write(CONFIGURATION % retention)
        self.sandbox = subprocess.Popen(
            [self.program("sdk-sandbox"), "--port", "0"], stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.url = self.sandbox.stdout.readline().split()[-1]

    def program(self, name):
        return os.path.join(self.binaries, name)

    def start(self):
        """Starts the daemon and waits until it is ready."""
        offset = os.path.getsize(self.log) if os.path.exists(self.log) else 0
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.program("sdkd"), "--config", os.path.join(self.folder, "sdkd.toml"),
                 "--state", os.path.join(self.folder, "state"), "--socket", self.socket],
                stdout=log, stderr=log, start_new_session=True)

        def ready():
            assert self.process.poll() is None, "the daemon has ended"
            with open(self.log, "rb") as log:
                log.seek(offset)
                return b"sdkd: ready" in log.read()

        eventually("the daemon is ready", ready)

    def end(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        assert self.process.wait(PATIENCE) in (0, -number)

    def stop(self):
        """Stops the daemon's threads, until `SIGCONT`. The signal takes effect some time after it was sent."""
        self.process.send_signal(signal.SIGSTOP)

        def is_stopped():
            for thread in os.listdir(f"/proc/{self.process.pid}/task"):
                with open(f"/proc/{self.process.pid}/task/{thread}/stat") as status:
                    if status.read().rsplit(")", 1)[1].split()[0] != "T":
                        return False
            return True

        eventually("the daemon is stopped", is_stopped)

    def close(self):
        for process in (self.process, self.sandbox):
            if process and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()
        self.sandbox.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def mint(self, user, ttl=3600):
        """A signed token for a user of the sandbox."""
        words = [self.program("sdk-sandbox"), "mint", "--external-id", user, "--ttl", str(ttl)]
        return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def settings(self, **more):
        """The settings of an instance of Zendesk Messaging."""
        return {"base_url": f"{self.url}/ns/clients/zm", "app_id": "5f0000000000000000000001",
                "refresh": {"mode": "lazy", "min_interval": 0}, **more}

    def call(self, method, **params):
        """A call without any library. Returns the result."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(self.socket)
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            connection.sendall(json.dumps(message).encode() + b"\n")
            answer = json.loads(connection.makefile("rb").readline())
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def line(self):
        return Line(self.socket)


class Line:
    """A connection on which many calls are in progress."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(PATIENCE)
        self._socket.connect(path)
        self._lines = self._socket.makefile("rb")
        self._ids = itertools.count(1)

    def send(self, method, **params):
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def answers(self, count):
        for _ in range(count):
            answer = json.loads(self._lines.readline())
            assert "error" not in answer, answer["error"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._lines.close()
        self._socket.close()
