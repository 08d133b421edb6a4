"""What 200 subscribers cost those who change instances: changes with none, with 200 that read, and with 50 of the 200
that have stopped reading."""
import multiprocessing, selectors, socket, time

from programs import Client

SUBSCRIBERS, STOPPED, CHANGES = 200, 50, 400


def subscribe(path):
    client = Client(path)
    client.call("events.subscribe")
    return client


def read(path, count, ready):
    """Subscribes and reads what comes, in a process of its own."""
    clients = [subscribe(path) for _ in range(count)]
    ready.set()
    readable = selectors.DefaultSelector()
    for client in clients:
        readable.register(client.socket, selectors.EVENT_READ)
    while True:
        for key, _ in readable.select():
            key.fileobj.recv(1 << 16)


def run(programs, results):
    daemon = programs.daemon("subscribers")
    daemon.start()
    daemon.create("desk-", 4)

    def measure(readers, stopped):
        ready = multiprocessing.Event()
        reader = multiprocessing.Process(target=read, args=(daemon.path, readers, ready), daemon=True)
        reader.start()
        ready.wait()
        idle = [subscribe(daemon.path) for _ in range(stopped)]
        client = Client(daemon.path)
        times = []
        before = daemon.cpu
        for number in range(CHANGES):
            began = time.monotonic()
            client.call("instance.update", instance=f"desk-{number % 4}", labels={"n": str(number)})
            times.append((time.monotonic() - began) * 1e6)
        used = daemon.cpu - before
        times.sort()
        reader.kill()
        reader.join()
        for other in [client, *idle]:
            other.close()
        return {"p50": times[CHANGES // 2], "p99": times[CHANGES * 99 // 100], "cpu": used / CHANGES * 1e6}

    figures = programs.rounds({
        "none": lambda: measure(0, 0), "reading": lambda: measure(SUBSCRIBERS, 0),
        "stopped": lambda: measure(SUBSCRIBERS - STOPPED, STOPPED)})
    each = (figures["reading"]["cpu"] - figures["none"]["cpu"]) / SUBSCRIBERS
    ratios = {name: figures[name]["p50"] / figures["none"]["p50"] for name in ("reading", "stopped")}
    results["subscribers"] = {**figures, "ratios": ratios, "cpu_each": each}
    print(
        f"a change with {SUBSCRIBERS} subscribers: p50 {ratios['reading']:.2f} x of none, with {STOPPED} of them that don't "
        f"read {ratios['stopped']:.2f} x; {each:.1f} us of processor for each event and subscriber")
    daemon.stop()
