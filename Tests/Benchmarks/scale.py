"""Ten instances against many: memory of each, latency, and the time until the daemon is ready."""
import statistics

from programs import token_get

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
    large.stop()
