"""A cached token of B while A's provider hangs and 50 clients wait on A, against B with nothing else going on."""
import os, time

from programs import Client, token_get

WAITING = 50


def run(programs, results):
    provider = programs.path("hangs")
    with open(provider, "w") as file:
        file.write("#!/bin/sh\nexec sleep 600\n")
    os.chmod(provider, 0o755)
    daemon = programs.daemon("isolation")
    daemon.start()
    daemon.sign_in("b")

    def quiet():
        return programs.load(daemon.path, 1, token_get("b"))

    def hung():
        daemon.sign_in("a", lifetime=2, provider={"command": [provider], "timeout": "300s"})
        time.sleep(2.1)
        clients = [Client(daemon.path) for _ in range(WAITING)]
        for client in clients:
            client.send("token.get", instance="a", timeout="200s")
            client.file.flush()
        figures = programs.load(daemon.path, 1, token_get("b"))
        for client in clients:
            client.close()
        admin = Client(daemon.path)
        admin.call("instance.delete", instance="a")
        admin.close()
        return figures

    figures = programs.rounds({"quiet": quiet, "hung": hung})
    ratios = {key: figures["hung"][key] / figures["quiet"][key] for key in ("p50", "p99")}
    results["isolation"] = {**figures, "ratios": ratios}
    print(
        f"B while A's provider hangs and {WAITING} clients wait on A: p50 {ratios['p50']:.2f} x, "
        f"p99 {ratios['p99']:.2f} x of quiet ({figures['quiet']['p99']:.0f} us)")
    daemon.stop()
