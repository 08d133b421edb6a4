"""`sdkctl token` from start to end, against `redis-cli get`."""
import os, shutil, statistics, subprocess, time

from programs import answers, wait


def run(programs, results):
    daemon = programs.daemon("command")
    daemon.start()
    daemon.sign_in("bench")
    environment = dict(os.environ, SDKD_SOCKET=daemon.path)
    commands = {"sdkctl token": [programs.program("sdkctl"), "token", "bench"]}
    if shutil.which("redis-server") and shutil.which("redis-cli"):
        path = programs.path("command-redis.sock")
        programs.start(
            "redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no",
            stdout=subprocess.DEVNULL)
        wait(lambda: answers(path), "redis")
        commands["redis-cli get"] = ["redis-cli", "-s", path, "get", "t"]
    times = {name: [] for name in commands}
    for _ in range(60):
        for name, command in commands.items():
            began = time.monotonic()
            subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
            times[name].append((time.monotonic() - began) * 1000)
    medians = {name: statistics.median(values) for name, values in times.items()}
    results["command_ms"] = medians
    for name, value in medians.items():
        print(f"{name}: {value:.2f} ms from start to end")
    if len(medians) == 2:
        print(f"  ratio {medians['sdkctl token'] / medians['redis-cli get']:.2f}")
    daemon.stop()
