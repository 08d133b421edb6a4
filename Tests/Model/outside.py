"""What the places outside of the daemon have seen: which of them it reached, and which secrets a vendor repeated."""
import json, os, re, subprocess, sys, threading

from secrets_of import APP_SECRET, pieces, readings

HERE = os.path.dirname(os.path.abspath(__file__))
CERTIFICATE = os.path.join(os.path.dirname(HERE), "Integration", "Fixtures", "places.pem")
OWN, LISTED = "https://own.test", ["https://listed.test", "https://eu.listed.test"]
ALLOWED = {"own.test:443", "listed.test:443", "eu.listed.test:443"}
WORD = re.compile(r"moonlight-(\d+)")


def texts(value):
    """All texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for member in value.values() if isinstance(value, dict) else value:
            yield from texts(member)


class Outside:
    """The vendors of the sandbox at other places, and what these have seen."""

    # The connected app of the instances there.
    app = {"client_id": "3MVG9places", "client_secret": APP_SECRET}

    def __init__(self, sandbox):
        self.process = subprocess.Popen(
            [sys.executable, f"{HERE}/places.py", sandbox.url.split("//")[1], CERTIFICATE], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, start_new_session=True)
        ports = json.loads(self.process.stdout.readline())
        self.proxy, self.nobody = ports["proxy"], ports["nobody"]
        self.echoes, self.counts, self.fault = {}, {}, None
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def base(self, kind, namespace="busy", socket=False):
        return f"{'wss' + OWN[5:] if socket else OWN}/ns/{namespace}/{kind}"

    @property
    def strays(self):
        """URLs that lead where nobody may lead an instance of `own.test`."""
        return [
            "https://attacker.test", "https://own.test:8443", f"http://127.0.0.1:{self.nobody}", f"http://localhost:{self.nobody}",
            f"https://127.0.0.1:{self.nobody}", "https://own.test@attacker.test", "https://listed.test.attacker.test",
            "https://own.test%2f.attacker.test", "https://attacker.test\\@own.test", "http://own.test", "https://own.test.",
            f"http://127.0.0.1.:{self.nobody}", f"http://127.1:{self.nobody}", f"http://[::ffff:127.0.0.1]:{self.nobody}"]

    def fail_next(self, **way):
        """Queues a way in which a vendor behind the places fails."""
        self.process.stdin.write(json.dumps(way) + "\n")
        self.process.stdin.flush()

    def read(self):
        for line in self.process.stdout:
            record = json.loads(line)
            with self.changed:
                self.take(record)
                self.changed.notify_all()

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def take(self, record):
        if "connected" in record:
            self.count("nothing reaches a place that nobody allowed")
            if record["connected"] not in ALLOWED:
                self.fault = self.fault or f"{record['connected']} is reached: {record.get('text', '')[:300]}"
        if "app" in record:
            self.count("the app's secret goes to its definition's place only")
            if record["app"] != "own.test:443":
                self.fault = self.fault or f"the connected app's secret is sent to {record['app']}{record['path']}"
        if "echo" in record:
            self.echoes[record["echo"]] = record["secrets"]
        if "led" in record:
            self.count("a vendor's URL of another place is judged")

    def repeated(self, world, value, where):
        """Returns what is wrong with a message or line in which a vendor's words arrive."""
        for text in texts(value):
            for number in {int(found) for found in WORD.findall(text)}:
                world.count("a vendor's words arrive without the secrets that they repeat")
                for secret in self.secrets(number):
                    for piece in pieces(secret):
                        if any(piece in reading for reading in readings(text)):
                            return f"{piece} of a secret that a vendor repeated is in {where}: {text[:600]}"
        return None

    def secrets(self, number):
        """Those of one time; its record may still be on its way."""
        with self.changed:
            self.changed.wait_for(lambda: number in self.echoes, 10)
            return self.echoes.get(number, [])

    def close(self):
        self.process.kill()
        self.process.wait()
