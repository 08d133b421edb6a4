"""The checks of the client libraries that need no conformance driver."""
import functools, glob, json, os, platform, re, shutil, subprocess, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CLIENTS = os.path.join(ROOT, "Packaging", "clients")
SCRATCH = os.path.join(ROOT, ".build", "clients")
PYTHON = os.path.join(CLIENTS, "python")
JAVASCRIPT = os.path.join(CLIENTS, "javascript")
GO = os.path.join(CLIENTS, "go")


def command(*words, folder=ROOT, environment=None, limit=300):
    """Runs a program, whose output is the problem when it fails. Returns the output."""
    done = subprocess.run(
        words, cwd=folder, env=environment, timeout=limit, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{' '.join(words[:4])} exited with {done.returncode}:\n{done.stdout[-4000:]}"
    return done.stdout


def environment(**more):
    return {**os.environ, "PYTHONPATH": os.path.join(PYTHON, "src"), "PYTHONDONTWRITEBYTECODE": "1", **more}


# What Debian has


@functools.cache
def debian_node():
    """The folder of Debian's Node and its libraries, unpacked: another Node may be installed."""
    folder = os.path.join(SCRATCH, "node")
    if not os.path.exists(os.path.join(folder, "root", "usr", "bin", "node")):
        os.makedirs(folder, exist_ok=True)
        version = next(line.split("|")[1].strip() for line in command("apt-cache", "madison", "libnode108").splitlines())
        packages = [f"nodejs={version}", f"libnode108={version}", "libuv1", "libc-ares2"]
        command("apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", *packages, folder=folder)
        for package in glob.glob(os.path.join(folder, "*.deb")):
            command("dpkg-deb", "-x", package, os.path.join(folder, "root"))
    return os.path.join(folder, "root", "usr")


def node():
    """The words and the environment that run Debian's Node 18."""
    libraries = glob.glob(os.path.join(debian_node(), "lib", f"{platform.machine()}-*"))[0]
    return [os.path.join(debian_node(), "bin", "node")], {**os.environ, "LD_LIBRARY_PATH": libraries}


def go(*words, folder=GO, **more):
    """Runs Debian's Go without a network and without a workspace or flags of the caller."""
    variables = {**os.environ, "GOCACHE": os.path.join(SCRATCH, "go-cache"), "GOFLAGS": "", "GOPROXY": "off", "GOWORK": "off",
                 "GO111MODULE": "on", **more}
    return command("/usr/bin/go", *words, folder=folder, environment=variables)


def go_driver():
    """The driver of the client for Go, which ends when two goroutines race."""
    program = os.path.join(SCRATCH, "go-driver")
    go("build", "-race", "-o", program, ".", folder=os.path.join(HERE, "Drivers", "Go"))
    return program


def go_program(path):
    """A program in one file, built as the client's README says."""
    folder = os.path.splitext(path)[0]
    os.makedirs(folder)
    shutil.copy(path, os.path.join(folder, "main.go"))
    go("mod", "init", "packages.invalid/program", folder=folder)
    go("mod", "edit", "-require", "packages.invalid/sdkd@v0.1.0", "-replace", f"packages.invalid/sdkd={GO}", folder=folder)
    differ = command("/usr/bin/gofmt", "-d", folder)
    assert not differ, f"{path} is not as gofmt leaves it:\n{differ}"
    go("build", "-o", "program", ".", folder=folder)
    return os.path.join(folder, "program")


# Checks


def files(binaries):
    """What is generated."""
    yield "the generated files are those of the contract", lambda: command("Packaging/make-clients", "--check")

    def compare():
        contract = command(os.path.join(binaries, "sdkd"), "--openrpc")
        with open(os.path.join(ROOT, "Packaging", "openrpc.json"), encoding="utf-8") as file:
            assert file.read() == contract, "Packaging/openrpc.json is not that of the daemon"

    yield "the contract is that of the daemon", compare

    def packages():
        """What is read in a package, where the source tree is not."""
        with open(os.path.join(ROOT, "LICENSE"), encoding="utf-8") as file:
            licence = file.read()
        for folder in (PYTHON, JAVASCRIPT, GO):
            with open(os.path.join(folder, "LICENSE"), encoding="utf-8") as file:
                assert file.read() == licence, f"{folder} has another licence"
            with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
                dead = [link for link in re.findall(r"\]\((?!https?:|#)([^)]*)\)", file.read())]
            assert not dead, f"{folder}/README.md leads out of the package: {dead}"
        with open(os.path.join(JAVASCRIPT, "package.json"), encoding="utf-8") as file:
            package = json.load(file)
        assert package["keywords"] and package["author"] and package["license"] == "Apache-2.0", package
        missing = [name for name in package["files"] if not glob.glob(os.path.join(JAVASCRIPT, name))]
        assert not missing, missing

    yield "the packages of the clients have their licence, and READMEs whose links lead somewhere", packages

    def comments():
        """No word of a generated comment is alone on its last line."""
        found = []
        for path in glob.glob(os.path.join(CLIENTS, "*", "**"), recursive=True):
            with open(path, encoding="utf-8") if path.endswith((".ts", ".go", ".py")) else open(os.devnull) as file:
                lines = file.read().splitlines()
            if "make-clients" not in "".join(lines[:1]):
                continue
            for before, line in zip(lines, lines[1:]):
                pair = [re.fullmatch(r"\s*(?://|\*|) (\S.*)", one) for one in (before, line)]
                if all(pair) and re.fullmatch(r"[\w'`]+\.", pair[1][1]) and len(before) > 60:
                    found.append(f"{os.path.basename(path)}: {line.strip()}")
        assert not found, "\n".join(found)

    yield "no word of a generated comment is alone on a line", comments


def types(binaries):
    """What the type checkers say."""
    mypy = os.path.join(SCRATCH, "mypy")
    sources = [os.path.join(PYTHON, "src", "sdkd"), os.path.join(HERE, "Types", "use.py"),
               os.path.join(ROOT, "Packaging", "examples", "python", "front_desk.py")]
    # GTK has no types that mypy knows.
    window = ["--ignore-missing-imports", "--allow-subclassing-any",
              os.path.join(ROOT, "Packaging", "examples", "python", "front_desk_gtk.py")]
    for version, more in (("3.11", sources), ("3.9", sources), ("3.11", window)):
        words = ["/usr/bin/python3", "-m", "mypy", "--strict", "--python-version", version,
                 "--cache-dir", os.path.join(SCRATCH, "mypy-cache"), *more]
        variables = {**os.environ, "PYTHONPATH": mypy, "MYPYPATH": os.path.join(PYTHON, "src")}
        where = "the front desk in GTK" if more is window else f"the client for Python {version}"
        yield f"mypy finds no mistake in {where}", functools.partial(command, *words, environment=variables)

    def typescript():
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "node_modules"))
            os.symlink(JAVASCRIPT, os.path.join(folder, "node_modules", "sdkd"))
            names = ["use.mts", "use.cts", "use_browser.mts", "undici-types.d.ts"]
            for name in names:
                shutil.copy(os.path.join(HERE, "Types", name), folder)
            command("tsc", "--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "--types", "node",
                    "--typeRoots", os.path.join(debian_node(), "share", "nodejs", "@types"),
                    *names, folder=folder)

    yield "the TypeScript compiler finds no mistake", typescript

    def gofmt():
        differ = command("/usr/bin/gofmt", "-l", GO, os.path.join(HERE, "Drivers", "Go"))
        assert not differ, f"gofmt must be run for {differ}"

    yield "the client for Go is as gofmt leaves it", gofmt
    yield "go vet finds no mistake", functools.partial(go, "vet", "./...")

    def documented():
        missing = re.findall(r"(?m)^(?:type|func(?: \(\w+ \*?[A-Z]\w*\))?|var|const) [A-Z]\w*", "\n".join(undocumented()))
        assert not missing, f"without a comment: {missing}"

    def undocumented():
        for path in glob.glob(os.path.join(GO, "*.go")):
            with open(path, encoding="utf-8") as file:
                found = file.read().splitlines()
            if not path.endswith("_test.go"):
                yield from (line for before, line in zip([""] + found, found) if not before.startswith("//"))

    yield "each exported name of the client for Go has a comment", documented


def units(binaries):
    """The parts that do no I/O, and the sockets that are trusted."""
    words = ["/usr/bin/python3", "-X", "dev", "-W", "error", "-m", "unittest", "discover", "-q", "-s",
             os.path.join(HERE, "Unit")]
    yield "the unit tests of Python", functools.partial(command, *words, environment=environment())
    program, variables = node()
    tests = glob.glob(os.path.join(HERE, "Unit", "*.mjs"))
    yield "the unit tests of Go", functools.partial(go, "test", "-race", "-count=1", "./...")
    yield "the unit tests of JavaScript", functools.partial(command, *program, "--test", *tests, environment=variables)


def wheel(binaries):
    def build():
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "source")
            shutil.copytree(PYTHON, source, ignore=shutil.ignore_patterns("*.egg-info", "build", "__pycache__"))
            pip = ["/usr/bin/python3", "-m", "pip", "--disable-pip-version-check"]
            command(*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "-w", folder, source)
            built = glob.glob(os.path.join(folder, "sdkd-*-py3-none-any.whl"))
            into = os.path.join(folder, "into")
            command(*pip, "install", "--quiet", "--root-user-action", "ignore", "--no-index", "--target", into, *built)
            metadata = glob.glob(os.path.join(into, "sdkd-*.dist-info"))[0]
            assert glob.glob(os.path.join(metadata, "**", "LICENSE"), recursive=True), "the wheel has no licence"
            with open(os.path.join(metadata, "METADATA"), encoding="utf-8") as file:
                found = file.read()
            for line in ("Author", "Keywords: sdkd,", "Classifier: Typing :: Typed", "# sdkd for Python"):
                assert line in found, f"{line} is missing in the metadata of the wheel"
            for name in ("py.typed", "types.py", os.path.join("aio", "_methods.py")):
                assert os.path.exists(os.path.join(into, "sdkd", name)), f"{name} is missing in the wheel"
            command("/usr/bin/python3", "-c", "import sdkd", environment={**os.environ, "PYTHONPATH": into})

    yield "a wheel builds, and can be imported", build


CHECKS = {"files": files, "types": types, "units": units, "wheel": wheel}
