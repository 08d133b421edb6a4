"""A cached token of B while A's provider hangs and 50 clients wait on A, against B of a second daemon with nothing else going on.

Both daemons run all the time, and short rounds alternate between them, so that whatever else the machine does is met by both.
"""
import os, time

from programs import Client, token_get

WAITING = 50
ROUNDS, SECONDS = 60, 0.2


def run(programs, results):
    provider = programs.path("hangs")
    with open(provider, "w") as file:
        file.write("#!/bin/sh\nexec sleep 600\n")
    os.chmod(provider, 0o755)
    daemons = {name: programs.daemon(f"isolation-{name}") for name in ("quiet", "hung")}
    for daemon in daemons.values():
        daemon.start()
        daemon.sign_in("b")
    hung = daemons["hung"].path
    daemons["hung"].sign_in("a", lifetime=2, provider={"command": [provider], "timeout": "300s"})
    time.sleep(2.1)
    clients = [Client(hung) for _ in range(WAITING)]
    for client in clients:
        client.send("token.get", instance="a", timeout="200s")
        client.file.flush()
    figures = programs.rounds({
        name: lambda path=daemon.path: programs.load(path, 1, token_get("b"), seconds=SECONDS)
        for name, daemon in daemons.items()}, ROUNDS)
    for client in clients:
        client.close()
    ratios = {key: figures["hung"][key] / figures["quiet"][key] for key in ("p50", "p99")}
    results["isolation"] = {**figures, "ratios": ratios}
    print(
        f"B while A's provider hangs and {WAITING} clients wait on A: p50 {ratios['p50']:.2f} x, "
        f"p99 {ratios['p99']:.2f} x of quiet ({figures['quiet']['p99']:.0f} us)")
    for daemon in daemons.values():
        daemon.stop()
