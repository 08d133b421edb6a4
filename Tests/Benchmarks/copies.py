"""Copies of the state: how long one takes, who waits for it meanwhile, and what a wipe costs when there are some."""
import statistics, threading, time

from programs import Client

COPIES = 3
WIPES = 50


def timed(call):
    """Milliseconds."""
    began = time.monotonic()
    call()
    return (time.monotonic() - began) * 1000


def run(programs, results):
    many = programs.arguments.instances
    daemon = programs.daemon("copies")
    daemon.start()
    daemon.sign_in("bench")
    daemon.create("i", max(0, many - 1 - 2 * WIPES))
    daemon.create("gone", 2 * WIPES)
    client, other = Client(daemon.path), Client(daemon.path)
    numbers = iter(range(2 * WIPES))

    def write():
        client.call("storage.put", instance="bench", key="draft", value="x" * 200)

    def read():
        client.call("token.get", instance="bench")

    def wipe():
        client.call("instance.delete", instance=f"gone{next(numbers)}")

    quiet = {"write": statistics.median(timed(write) for _ in range(500)),
             "read": statistics.median(timed(read) for _ in range(500))}
    wipes = {"without copies": statistics.median(timed(wipe) for _ in range(WIPES))}
    durations, waits = [], {"write": [], "read": []}
    for number in range(COPIES):
        copy = threading.Thread(
            target=lambda: durations.append(timed(lambda: other.call("daemon.backup", name=f"copy{number}"))))
        copy.start()
        while copy.is_alive():
            waits["write"].append(timed(write))
            waits["read"].append(timed(read))
        copy.join()
    wipes[f"with {COPIES} copies"] = statistics.median(timed(wipe) for _ in range(WIPES))
    longest = {what: max(all) for what, all in waits.items()}
    print(f"a copy of {many} instances: {statistics.median(durations):.0f} ms")
    for what in ("write", "read"):
        print(f"the longest {what} meanwhile: {longest[what]:.2f} ms ({quiet[what]:.2f} ms when it is quiet)")
    print("deleting an instance: " + ", ".join(f"{took:.2f} ms {what}" for what, took in wipes.items()))
    results["copies"] = {
        "instances": many, "copy_ms": statistics.median(durations), "quiet_ms": quiet, "longest_ms": longest,
        "delete_ms": wipes}
    client.close()
    other.close()
    daemon.stop()
