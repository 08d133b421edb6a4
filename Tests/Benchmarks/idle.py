"""An idle daemon: its memory, and how large the programs are as the packages have them. And the installed sizes of the packages
that Packaging/build-deb has built, if the programs are not newer."""
import glob, os, subprocess

from programs import ROOT

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
        missing = [name for name in names if not programs.is_release(name)]
        if missing:
            print(f"programs of {package}: not measured without release builds of {' and '.join(missing)}")
            continue
        each = {name: os.path.getsize(stripped(programs, name)) / 1e6 for name in names}
        sizes[package] = sum(each.values())
        print(f"programs of {package}: {sizes[package]:.1f} MB; " + ", ".join(f"{name} {size:.1f}" for name, size in each.items()))
    packages = {package: size for package in PACKAGES if (size := installed(programs, package))}
    for package, size in packages.items():
        print(f"package {package}: {size:.1f} MB installed")
    results["idle"] = {
        "resident_mib": found["Rss"], "private_dirty_mib": found["Private_Dirty"], "programs_mb": sizes, "packages_mb": packages}


def installed(programs, package):
    """The installed size of a package in MB, as it says itself; `None` if there is none that has these programs."""
    found = glob.glob(os.path.join(ROOT, ".build", "deb", "packages", f"{package}_*.deb"))
    names = PACKAGES[package]
    if not found or not all(programs.is_release(name) for name in names):
        return None
    if any(os.path.getmtime(programs.program(name)) > os.path.getmtime(found[0]) for name in names):
        return None
    field = subprocess.run(["dpkg-deb", "--field", found[0], "Installed-Size"], check=True, capture_output=True, text=True).stdout
    return int(field) * 1024 / 1e6


def stripped(programs, name):
    path = programs.path(f"{name}.stripped")
    subprocess.run(["strip", "-o", path, programs.program(name)], check=True)
    with open(path, "rb") as file:
        # A page that is not on the disk yet would count as written by the daemon.
        os.fsync(file.fileno())
    return path
