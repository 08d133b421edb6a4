"""An idle daemon: its memory, and how large the programs are as the packages have them."""
import os, subprocess

PACKAGES = {"sdkd": ("sdkd", "sdkctl", "sdkd-provider"), "sdk-sandbox": ("sdk-sandbox",)}


def run(programs, results):
    daemon = programs.daemon("idle")
    # Without debug symbols, as the package has it: with them more pages are read.
    daemon.program = stripped(programs, "sdkd")
    daemon.start()
    with open(f"/proc/{daemon.process.pid}/smaps_rollup") as rollup:
        found = {name: int(rest.split()[0]) / 1024 for name, _, rest in (line.partition(":") for line in rollup) if "kB" in rest}
    print(f"idle: {found['Rss']:.1f} MiB resident, {found['Private_Dirty']:.1f} MiB of them private and written")
    daemon.stop()
    sizes = {}
    for package, names in PACKAGES.items():
        each = {name: os.path.getsize(stripped(programs, name)) / 1e6 for name in names if os.path.exists(programs.program(name))}
        sizes[package] = sum(each.values())
        print(f"programs of {package}: {sizes[package]:.1f} MB; " + ", ".join(f"{name} {size:.1f}" for name, size in each.items()))
    results["idle"] = {"resident_mib": found["Rss"], "private_dirty_mib": found["Private_Dirty"], "programs_mb": sizes}


def stripped(programs, name):
    path = programs.path(f"{name}.stripped")
    subprocess.run(["strip", "-o", path, programs.program(name)], check=True)
    with open(path, "rb") as file:
        # A page that is not on the disk yet would count as written by the daemon.
        os.fsync(file.fileno())
    return path
