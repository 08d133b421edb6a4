"""The programs of a run: the daemon with its configuration, disk and clock, and the sandbox of the vendors."""
import json, os, resource, shutil, signal, subprocess, sys, tempfile, threading, time, urllib.error, urllib.request

import facts
from outside import CERTIFICATE, Outside
from secrets_of import APP_SECRET

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GRACE = 5
CONFIGURATION = f"""[events]
retention = {{ age = "7d", count = 1000000 }}
[shutdown]
grace = "{GRACE}s"
[delegate]
grace = "2s"
[limits]
calls_per_second = 2000
connections = 32
total_connections = 128
[backup]
keep = 2
[[access.create]]
who = "group:games"
prefix = "k-"
max = 3
"""
# The user with subordinate uids: see `crowd.py`.
SUBORDINATES = "61003:700000:65536\n"


def mount(*arguments):
    return os.geteuid() == 0 and subprocess.run(["mount", *arguments], capture_output=True).returncode == 0


class Sandbox:
    """The vendors. Names of namespaces keep the hostile ones from the quiet one."""

    def __init__(self, folder, program):
        self.process = subprocess.Popen([program, "--port", "0"], stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.url = self.process.stdout.readline().split()[-1]

    def ask(self, method, path, body=None, namespace="busy"):
        """Calls the control API. Returns its JSON; `None` when the sandbox refuses or does not answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/ns/{namespace}{path}", data=data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.loads(answer.read() or b"null")
        except (OSError, ValueError, urllib.error.URLError):
            return None

    def base(self, kind, namespace="busy", socket=False):
        return f"{'ws' + self.url[4:] if socket else self.url}/ns/{namespace}/{kind}"


class Clock:
    """The daemon's wall clock. It can't be moved where there is no C compiler."""

    def __init__(self, folder):
        self.path, library = os.path.join(folder, "clock"), os.path.join(folder, "clock.so")
        self.seconds, self.environment = 0, {}
        compiler = shutil.which("clang") or shutil.which("gcc")
        self.move(0)
        if compiler and not subprocess.run(
                [compiler, "-O1", "-shared", "-fPIC", "-o", library, os.path.join(HERE, "clock.c")]).returncode:
            self.environment = {"LD_PRELOAD": library, "TEST_CLOCK": self.path}

    def move(self, seconds):
        """Sets the distance from the machine's clock."""
        self.seconds = seconds
        with open(self.path + ".next", "w") as file:
            file.write(str(seconds))
        os.replace(self.path + ".next", self.path)

    def now(self):
        return time.time() + self.seconds


class Disk:
    """The state's folder: a small disk where the run may mount one."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "state")
        self.ballast = os.path.join(self.path, "ballast")
        os.mkdir(self.path, 0o700)
        self.is_small = mount("-t", "tmpfs", "-o", "size=96m,mode=0700", "model", self.path)

    def fill(self):
        """Leaves less than a page."""
        with open(self.ballast, "wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                try:
                    while file.write(b"x" * size) == size:
                        pass
                except OSError:
                    pass

    def free(self):
        if os.path.exists(self.ballast):
            os.unlink(self.ballast)

    def close(self):
        if self.is_small:
            subprocess.run(["umount", "-l", self.path], capture_output=True)


class Daemon:
    """The daemon. A life is the time from one start to the next end."""

    def __init__(self, folder, program, clock, disk, outside=None):
        self.folder, self.program, self.clock, self.disk = folder, program, clock, disk
        self.has_subordinates = outside is not None and os.geteuid() == 0
        self.network = outside and (
            f'[network]\nallow = ["listed.test"]\nproxy = "http://127.0.0.1:{outside.proxy}"\nca_file = "{CERTIFICATE}"\n')
        self.socket, self.log = os.path.join(folder, "s"), os.path.join(folder, "log")
        self.configuration = os.path.join(folder, "sdkd.toml")
        os.mkdir(os.path.join(folder, "instances.d"))
        self.configure("")
        self.life, self.is_ending, self.process = 0, True, None
        self.replacements = 0
        self.configuring = threading.Lock()

    def configure(self, more):
        with open(self.configuration + ".next", "w") as file:
            file.write(CONFIGURATION + (self.network or "") + more)
        os.replace(self.configuration + ".next", self.configuration)

    def start(self):
        """Returns whether the daemon became ready."""
        offset = os.path.getsize(self.log) if os.path.exists(self.log) else 0
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.with_subordinates + [self.program, "--config", self.configuration, "--state", self.disk.path, "--socket", self.socket],
                stderr=log, stdout=log, env=dict(os.environ, **self.clock.environment), start_new_session=True)
        if not self.becomes_ready(offset):
            return False
        self.life += 1
        self.is_ending = False
        return True

    def becomes_ready(self, offset):
        end = time.monotonic() + 120
        while time.monotonic() < end and self.process.poll() is None:
            with open(self.log, "rb") as log:
                log.seek(offset)
                if b"sdkd: ready" in log.read():
                    return True
            time.sleep(0.02)
        return False

    def replace(self):
        """Has the daemon replace itself, in the same life. Returns whether the next one became ready."""
        offset = os.path.getsize(self.log)
        self.replacements += 1
        self.process.send_signal(signal.SIGUSR2)
        is_ready = self.becomes_ready(offset)
        self.replacements += 1
        return is_ready

    @property
    def with_subordinates(self):
        """What starts the daemon with a file of subordinate uids of its own; as root only."""
        if not self.has_subordinates:
            return []
        path = os.path.join(self.folder, "subuid")
        with open(path, "w") as file:
            file.write(SUBORDINATES)
        return ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /etc/subuid && exec "$@"', path]

    def end(self, number):
        """Sends a signal and waits for the end. Returns the exit status, or `None` when it does not end in time."""
        self.is_ending = True
        self.process.send_signal(number)
        try:
            return self.process.wait(GRACE + 15)
        except subprocess.TimeoutExpired:
            return None

    @property
    def descriptors(self):
        """Their number; 0 without root, to whom alone the kernel shows those of a daemon with secrets."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd")) if os.geteuid() == 0 else 0

    @property
    def resident(self):
        """MiB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


class Programs:
    """All of them, in one scratch folder."""

    def __init__(self, binaries):
        self.folder = tempfile.mkdtemp(prefix="sdkd-model-")
        os.chmod(self.folder, 0o755)
        # The crowd has a descriptor for each of its connections.
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, max(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
        self.sandbox = Sandbox(self.folder, os.path.join(binaries, "sdk-sandbox"))
        self.sandbox.ask("POST", "/_keys", {"sdk": "sf", "kid": Outside.app["client_id"], "secret": APP_SECRET})
        self.outside = Outside(self.sandbox)
        self.clock = Clock(self.folder)
        self.disk = Disk(self.folder)
        self.daemon = Daemon(self.folder, os.path.join(binaries, "sdkd"), self.clock, self.disk, self.outside)
        self.provider = os.path.join(self.folder, "provider")
        for name in ("answers.py", "facts.py"):
            shutil.copy(os.path.join(HERE, name), self.folder)
        with open(self.path("kinds.json"), "w") as file:
            json.dump(facts.ALL, file)
        with open(self.path("strays"), "w") as file:
            json.dump(self.outside.strays, file)
        with open(self.provider, "w") as file:
            file.write(f"#!{os.path.realpath(sys.executable)} -SE\n")
            file.write(open(os.path.join(HERE, "provider.py")).read())
        os.chmod(self.provider, 0o755)

    def path(self, name):
        return os.path.join(self.folder, name)

    def close(self):
        self.outside.close()
        for process in (self.daemon.process, self.sandbox.process):
            if process and process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()
        self.disk.close()
        shutil.rmtree(self.folder, ignore_errors=True)
