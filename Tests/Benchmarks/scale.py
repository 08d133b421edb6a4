"""Ten instances against many: memory of each, latency, and the time until the daemon is ready. And the memory of each
signed-in instance."""
import os, statistics, subprocess, time

from programs import SETTLING, Client, token_get

FEW = 10


def run(programs, results):
    many = programs.arguments.instances
    small, large = programs.daemon("small"), programs.daemon("large")
    for daemon in (small, large):
        daemon.start()
        daemon.sign_in("bench")
    small.create("i", FEW - 1)
    idle = large.resident
    large.create("i", many - 1)
    each = (large.resident - idle) / (many - 1)
    print(f"memory: {idle} KiB with one instance, {each:.1f} KiB for each of {many - 1} more")

    starts = []
    for _ in range(5):
        large.stop()
        starts.append(large.start())
    restarted = (large.resident - idle) / (many - 1)
    print(f"start with {many} instances: {statistics.median(starts):.3f} s; then {restarted:.1f} KiB each")

    figures = programs.rounds({
        "few": lambda: programs.load(small.path, 1, token_get("bench")),
        "many": lambda: programs.load(large.path, 1, token_get("bench"))})
    ratios = {key: figures["many"][key] / figures["few"][key] for key in ("p50", "p99")}
    print(f"latency with {many} instances: p50 {ratios['p50']:.2f} x, p99 {ratios['p99']:.2f} x of {FEW} instances")
    results["scale"] = {
        "instances": many, "idle_kib": idle, "per_instance_kib": each, "per_instance_restarted_kib": restarted,
        "ready_seconds": statistics.median(starts), **figures, "ratios": ratios}
    small.stop()
    status(programs, results, large)
    large.stop()
    users(programs, results)
    files(programs, results)


def status(programs, results, large):
    """`sdkctl status` from start to end, and making an instance, with many instances and with a thousand."""
    daemon = programs.daemon("thousand")
    daemon.start()
    daemon.create("i", 1000)

    def seconds(of):
        began = time.monotonic()
        subprocess.run(
            [programs.program("sdkctl"), "status"], check=True, capture_output=True,
            env=dict(os.environ, SDKD_SOCKET=of.path))
        return {"seconds": time.monotonic() - began}

    found = programs.rounds({"many": lambda: seconds(large), "thousand": lambda: seconds(daemon)}, 15)
    ratio = found["many"]["seconds"] / found["thousand"]["seconds"]
    print(f"sdkctl status: {ratio:.2f} x of 1000 instances")
    made = programs.rounds({"many": lambda: creation(large), "thousand": lambda: creation(daemon)})
    created = {key: made["many"][key] / made["thousand"][key] for key in ("seconds", "cpu")}
    print(
        f"instance.create: {created['seconds']:.2f} x of with 1000 instances, processor time of the daemon {created['cpu']:.2f} x "
        f"({made['many']['cpu'] * 1000:.2f} ms)")
    results["status"] = {"ratio": ratio, "create_ratio": created["seconds"], "create_cpu_ratio": created["cpu"]}
    daemon.stop()


def creation(daemon, count=100):
    """Seconds for each of some instances, made one after another, and of processor time. They are deleted again."""
    client, began, before = Client(daemon.path), time.monotonic(), daemon.cpu
    for number in range(count):
        client.call(
            "instance.create", instance=f"made{number}", kind="zendesk.messaging", settings=dict(daemon.programs.settings, realtime="off"))
    seconds, cpu = time.monotonic() - began, daemon.cpu - before
    for number in range(count):
        client.call("instance.delete", instance=f"made{number}")
    client.close()
    return {"seconds": seconds / count, "cpu": cpu / count}


def files(programs, results, count=4000):
    """The first start with many instance files against the second one: seconds until it is ready, and of CPU."""
    daemon = programs.daemon("files")
    folder = programs.path("files")
    os.makedirs(os.path.join(folder, "instances.d"))
    daemon.config = os.path.join(folder, "sdkd.toml")
    open(daemon.config, "w").close()
    for number in range(count):
        with open(os.path.join(folder, "instances.d", f"i{number}.toml"), "w") as file:
            file.write(
                f'id = "i{number}"\nkind = "zendesk.messaging"\n\n[settings]\nbase_url = "{programs.settings["base_url"]}"\n'
                f'app_id = "{programs.settings["app_id"]}"\nrealtime = "off"\n')

    def start():
        seconds = daemon.start()
        with open(f"/proc/{daemon.process.pid}/stat") as stat:
            ticks = stat.read().rpartition(")")[2].split()[11:13]
        daemon.stop()
        return seconds, sum(map(int, ticks))

    (first, first_ticks), (second, second_ticks) = start(), start()
    ratios = {"seconds": first / second, "cpu": first_ticks / second_ticks}
    print(f"first start with {count} files: {ratios['seconds']:.1f} x of the second, CPU {ratios['cpu']:.1f} x")
    results["files"] = ratios


def users(programs, results, first=512, more=1536):
    """What an instance takes beyond its definition once somebody is signed in, with the vendor's clients closed and the memory of
    the logins given back."""
    daemon = programs.daemon("users")
    daemon.start()
    daemon.sign_in("bench")
    daemon.create("i", first + more)
    jwt, client = programs.mint("ann", 36000), Client(daemon.path)

    def each(numbers):
        time.sleep(SETTLING)
        before = daemon.resident
        for begin in range(numbers.start, numbers.stop, 16):
            for number in range(begin, begin + 16):
                client.send("messaging.loginUser", instance=f"i{number}", jwt=jwt)
            client.file.flush()
            for _ in range(16):
                client.receive()
        time.sleep(SETTLING)
        return (daemon.resident - before) / len(numbers)

    early, late = each(range(first)), each(range(first, first + more))
    print(f"memory of a user: {early:.1f} KiB for each of the first {first}, {late:.1f} KiB for each of {more} more")
    results["users"] = {"early_kib": early, "late_kib": late}
    client.close()
    daemon.stop()
