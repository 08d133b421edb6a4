"""Renewals through providers, as fast as they go: the CPU of each, and a cached token of a neighbour meanwhile.

Beside it the same programs, as many at a time, started by xargs. Rounds alternate.
"""
import json, os, shlex, shutil, subprocess, threading

from programs import Client, token_get

COUNT, CONNECTIONS, AT_A_TIME = 1000, 10, 4


def run(programs, results):
    answer = programs.path("answer")
    with open(answer, "w") as file:
        json.dump({"token": programs.mint("bench", 36000)}, file)
    provider = [shutil.which("cat"), answer]
    daemon = programs.daemon("storm")
    daemon.config = programs.path("storm.toml")
    with open(daemon.config, "w") as file:
        file.write(f"[bridge]\nmax_concurrent = {AT_A_TIME}\nmax_running = {AT_A_TIME}\n")
    daemon.start()
    create(programs, daemon, provider)
    daemon.sign_in("neighbour")

    def renewing():
        return [threading.Thread(target=renew, args=(daemon, first)) for first in range(CONNECTIONS)]

    def alone():
        before = cpu(daemon.process.pid)
        threads = renewing()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        own, children = (after - former for after, former in zip(cpu(daemon.process.pid), before))
        return {"own": own * 1000 / COUNT, "programs": children * 1000 / COUNT}

    def others():
        shell = f"yes {shlex.quote(answer)} | head -n {COUNT} | xargs -P {AT_A_TIME} -n 1 {provider[0]} >/dev/null"
        return beside(programs, daemon, [threading.Thread(target=subprocess.run, args=(["sh", "-c", shell],))])

    def quiet():
        return programs.load(daemon.path, 1, token_get("neighbour"))

    found = programs.rounds({
        "alone": alone, "storm": lambda: beside(programs, daemon, renewing()), "others": others, "quiet": quiet})
    ratio = found["storm"]["p99"] / found["others"]["p99"]
    results["storm"] = {**found, "ratio": ratio}
    print(
        f"{COUNT} renewals through providers: {found['alone']['own']:.2f} ms of the daemon's CPU each, "
        f"{found['alone']['programs']:.2f} of the programs'; "
        f"a neighbour's cached token p99 {ratio:.2f} x of beside the same programs started by xargs "
        f"({found['others']['p99']:.0f} us; quiet {found['quiet']['p99']:.0f} us)")
    daemon.stop()


def create(programs, daemon, provider):
    """Signed-in instances whose tokens may be renewed at any time."""
    client = Client(daemon.path)
    jwt = programs.mint("bench", 36000)
    for first in range(0, COUNT, 32):
        numbers = range(first, min(first + 32, COUNT))
        for number in numbers:
            client.send(
                "instance.create", instance=f"i{number}", kind="zendesk.messaging",
                settings=dict(programs.settings, realtime="off", refresh={"min_interval": 0}), provider={"command": provider})
            client.send("messaging.loginUser", instance=f"i{number}", jwt=jwt)
        client.file.flush()
        for _ in numbers:
            client.receive()
            client.receive()
    client.close()


def renew(daemon, first):
    client = Client(daemon.path)
    numbers = range(first, COUNT, CONNECTIONS)
    for number in numbers:
        client.send("token.refresh", instance=f"i{number}")
    client.file.flush()
    for _ in numbers:
        client.receive()
    client.close()


def beside(programs, daemon, threads):
    """The median of short measurements of the neighbour while the threads work."""
    for thread in threads:
        thread.start()
    found = []
    while any(thread.is_alive() for thread in threads):
        found.append(programs.load(daemon.path, 1, token_get("neighbour"), seconds=0.2))
    return {key: sorted(each[key] for each in found)[len(found) // 2] for key in found[0]}


def cpu(process):
    """The CPU seconds of a process and of its children that have ended."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    tick = os.sysconf("SC_CLK_TCK")
    return (int(fields[11]) + int(fields[12])) / tick, (int(fields[13]) + int(fields[14])) / tick
