"""The programs that a benchmark runs: daemons, the sandbox, yardsticks; and a client that speaks to a daemon."""
import json, os, shutil, signal, socket, statistics, subprocess, sys, tempfile, time

# Seconds until a daemon has given back the memory that a burst of work needed.
SETTLING = 25

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


class Client:
    """Calls over one connection."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rwb")
        self.next = 0

    def send(self, method, **params):
        self.next += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        self.file.write(line.encode() + b"\n")

    def receive(self):
        answer = json.loads(self.file.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        return answer["result"]

    def call(self, method, **params):
        self.send(method, **params)
        self.file.flush()
        return self.receive()

    def close(self):
        self.file.close()
        self.socket.close()


def wait(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"gave up waiting for {what}")
        time.sleep(0.005)


def answers(path):
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        return True
    except OSError:
        return False


class Daemon:
    """An sdkd with a state and a socket of its own."""

    def __init__(self, programs, name, subordinates=None):
        self.programs = programs
        self.state, self.path, self.log = (programs.path(f"{name}.{end}") for end in ("state", "sock", "log"))
        self.config, self.program = programs.path("none.toml"), programs.program("sdkd")
        self.around = ()
        if subordinates is not None:
            # An /etc/subuid of its own, which takes root.
            with open(programs.path(f"{name}.subuid"), "w") as file:
                file.write(subordinates)
            self.around = ("unshare", "--mount", "sh", "-c", f"mount --bind {file.name} /etc/subuid && exec \"$@\"", "sh")

    def start(self):
        """Returns the seconds until it was ready."""
        with open(self.log, "w") as log:
            began = time.monotonic()
            self.process = self.programs.start(
                *self.around, self.program, *self.arguments, stderr=log, stdout=subprocess.DEVNULL)
            wait(lambda: "sdkd: ready" in open(self.log).read(), "sdkd")
            return time.monotonic() - began

    @property
    def arguments(self):
        return ["--state", self.state, "--config", self.config, "--socket", self.path]

    def stop(self):
        self.programs.stop(self.process)

    @property
    def resident(self):
        """KiB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    @property
    def cpu(self):
        """Seconds of processor time of all its threads, also of those that have ended."""
        # The kernel's clock of another process, as clock_getcpuclockid(3) gives it.
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def create(self, prefix, count):
        """Instances without users, many at once."""
        client = Client(self.path)
        for first in range(0, count, 50):
            numbers = range(first, min(first + 50, count))
            for number in numbers:
                client.send(
                    "instance.create", instance=f"{prefix}{number}", kind="zendesk.messaging",
                    settings=dict(self.programs.settings, realtime="off"))
            client.file.flush()
            for _ in numbers:
                client.receive()
        client.close()

    def sign_in(self, instance, lifetime=36000, **more):
        """A Messaging instance with somebody signed in."""
        client = Client(self.path)
        client.call(
            "instance.create", instance=instance, kind="zendesk.messaging",
            settings=dict(self.programs.settings, realtime="off"), **more)
        client.call("messaging.loginUser", instance=instance, jwt=self.programs.mint(instance, lifetime))
        client.close()


class Programs:
    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = tempfile.mkdtemp(prefix="sdkd-bench-")
        os.chmod(self.folder, 0o755)
        self.bin = arguments.bin or os.path.join(ROOT, ".build", "release")
        self.running = []
        for name in ("echo", "load"):
            subprocess.run(["gcc", "-O2", "-o", self.path(name), os.path.join(HERE, name + ".c")], check=True)
        self.sandbox = self.start(self.program("sdk-sandbox"), "--port", "0", stdout=subprocess.PIPE, text=True)
        vendor = self.sandbox.stdout.readline().split()[-1]
        self.settings = {"base_url": vendor + "/zm", "app_id": "5f0000000000000000000001"}

    def program(self, name):
        """The sandbox may be a debug build: it is not measured."""
        path = os.path.join(self.bin, name)
        return path if os.path.exists(path) else os.path.join(ROOT, ".build", "debug", name)

    def is_release(self, name):
        """Whether a program is there as a release build."""
        return os.path.exists(os.path.join(self.bin, name))

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, *command, **more):
        process = subprocess.Popen(command, **more)
        self.running.append(process)
        return process

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        self.running.remove(process)

    def close(self):
        for process in self.running:
            process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def daemon(self, name, **more):
        return Daemon(self, name, **more)

    def mint(self, user, lifetime):
        return subprocess.run(
            [self.program("sdk-sandbox"), "mint", "--external-id", user, "--ttl", str(lifetime)],
            check=True, capture_output=True, text=True).stdout.strip()

    def load(self, path, connections, request, end="\n", seconds=None):
        out = subprocess.run(
            [self.path("load"), path, str(connections), str(seconds or self.arguments.seconds), request, end],
            check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        return {"rate": float(out[0]), "p50": float(out[1]), "p99": float(out[2])}

    def answer_size(self, path, request):
        """The bytes of a short answer."""
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(path)
            probe.sendall(request.replace("\\n", "\n").encode())
            return len(probe.recv(65536))

    def rounds(self, measured, count=None):
        """Medians of alternating rounds: a machine that is busy for a while is so for all."""
        runs = {name: [] for name in measured}
        for _ in range(count or self.arguments.rounds):
            for name, measure in measured.items():
                runs[name].append(measure())
        return {
            name: {key: statistics.median(run[key] for run in all) for key in all[0]} for name, all in runs.items()}


def token_get(instance):
    return '{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"instance":"' + instance + '"}}\\n'
