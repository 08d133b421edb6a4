"""Each call thousands of times: what it costs, and what memory the daemon holds, at the beginning and at the end."""
import itertools, os, time

from programs import Client

CALLS = 10_000
BATCH = 50


class Soak:
    def __init__(self, programs):
        self.daemon = programs.daemon("soak")
        self.daemon.start()
        self.client = Client(self.daemon.path)
        self.settings = dict(programs.settings, realtime="off", refresh={"mode": "lazy", "min_interval": 0})
        self.jwt = programs.mint("alice", 36000)
        provider = programs.path("provider")
        with open(provider, "w") as file:
            file.write(f"#!/bin/sh\necho '{programs.mint('alice', 72000)}'\n")
        os.chmod(provider, 0o755)
        self.client.call(
            "instance.create", instance="desk", kind="zendesk.messaging", settings=self.settings,
            provider={"command": [provider]})
        self.client.call("messaging.loginUser", instance="desk", jwt=self.jwt)
        self.numbers = itertools.count()

    def ask(self, method, **params):
        return lambda: self.client.call(method, instance="desk", **params)

    def put(self):
        self.client.call("storage.put", instance="desk", key="draft", value=str(next(self.numbers)))

    def update(self):
        self.client.call("instance.update", instance="desk", labels={"number": str(next(self.numbers))})

    def create_and_delete(self):
        name = f"desk{next(self.numbers)}"
        self.client.call("instance.create", instance=name, kind="zendesk.messaging", settings=self.settings)
        self.client.call("instance.delete", instance=name)

    def log_out_and_in(self):
        self.client.call("messaging.logoutUser", instance="desk")
        self.client.call("messaging.loginUser", instance="desk", jwt=self.jwt)

    def subscribe(self):
        made = self.client.call("events.subscribe")
        self.client.call("events.unsubscribe", subscription=made["subscription"])

    def attach(self):
        self.client.call("delegate.attach", instances=["desk"])
        self.client.call("delegate.detach", instances=["desk"])

    def refused(self):
        try:
            self.client.call("instance.get", instance="nobody")
        except RuntimeError:
            pass

    def connect(self):
        client = Client(self.daemon.path)
        client.call("daemon.info")
        client.close()


def shortest(call):
    """Milliseconds of one call: of the quickest batch, since others use the machine, too."""
    def batch():
        began = time.monotonic()
        for _ in range(BATCH):
            call()
        return (time.monotonic() - began) / BATCH * 1000
    return min(batch() for _ in range(6))


def run(programs, results):
    soak = Soak(programs)
    scenes = {
        "token.get": (soak.ask("token.get"), 1), "instance.get": (soak.ask("instance.get"), 1),
        "session.open": (soak.ask("session.open"), 1), "storage.put": (soak.put, 1), "instance.update": (soak.update, 1),
        "subscribe, unsubscribe": (soak.subscribe, 1), "attach, detach": (soak.attach, 0.5),
        "a refusal": (soak.refused, 1), "connect, call, close": (soak.connect, 1),
        "create, delete": (soak.create_and_delete, 0.5), "token.refresh": (soak.ask("token.refresh"), 0.1),
        "logout, login": (soak.log_out_and_in, 0.1), "daemon.metrics": (lambda: soak.client.call("daemon.metrics"), 0.1)}
    results["soak"] = {}
    for name, (call, share) in scenes.items():
        first, memory = shortest(call), soak.daemon.resident
        for _ in range(int(CALLS * share)):
            call()
        last, grown = shortest(call), soak.daemon.resident - memory
        print(f"{name}: {first:.3f} ms, after {int(CALLS * share)} more {last:.3f} ms and {grown} KiB")
        results["soak"][name] = {"first_ms": first, "last_ms": last, "grown_kib": grown}
    soak.client.close()
    soak.daemon.stop()
