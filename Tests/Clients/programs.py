"""The snippets of the guide, the README's programs, and the examples, with the real daemon."""
import contextlib, functools, json, os, re, shutil, signal, subprocess, threading

import checks
from screen import Screen
from world import World, eventually

EXAMPLES = os.path.join(checks.ROOT, "Packaging", "examples")
DOCUMENTS = ["Packaging/documentation/client-libraries.md", "Packaging/clients/python/README.md",
             "Packaging/clients/javascript/README.md", "Packaging/clients/go/README.md", "README.md"]

#: The endings of the names of programs, by the words that begin their blocks.
ENDINGS = {"python": "py", "js": "mjs", "go": "go"}


class Shop:
    """A daemon whose instance `front-desk` has a user."""

    def __init__(self, binaries):
        self.world = World(binaries)
        self.jwt = self.world.mint("alice")
        self.world.start()
        # Programs of Node find the client as `npm install` would have linked it.
        os.mkdir(os.path.join(self.world.folder, "node_modules"))
        os.symlink(checks.JAVASCRIPT, os.path.join(self.world.folder, "node_modules", "sdkd"))
        self.world.call("instance.create", instance="front-desk", kind="zendesk.messaging", settings=self.world.settings())
        self.log_in()

    def log_in(self):
        self.world.call("messaging.loginUser", instance="front-desk", jwt=self.jwt)

    def words(self, path):
        """The words and the environment that run a program in Python, JavaScript or Go."""
        variables = checks.environment(SDKD_SOCKET=self.world.socket, JWT=self.jwt)
        if path.endswith(".go"):
            return [checks.go_program(path)], variables
        if path.endswith(".py"):
            return ["/usr/bin/python3", path], variables
        if path.endswith(".sh"):
            return ["/bin/sh", path], {**variables, "SDKCTL": self.world.program("sdkctl")}
        program, libraries = checks.node()
        return [*program, path], {**variables, "LD_LIBRARY_PATH": libraries["LD_LIBRARY_PATH"]}

    def tokens(self):
        """The path of a program that prints the JWT of a person, as a backend would."""
        path = os.path.join(self.world.folder, "tokens")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {self.world.program("sdk-sandbox")} mint --external-id "$1" --ttl 3600\n')
        os.chmod(path, 0o755)
        return path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.world.close()


class Running:
    """A program in progress, and the lines that it has printed."""

    def __init__(self, words, variables):
        self.lines = []
        self._process = subprocess.Popen(words, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, text=True, bufsize=1, start_new_session=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            self.lines.append(line.rstrip("\n"))

    def say(self, line):
        """Types a line at the program's terminal."""
        self._process.stdin.write(line + "\n")

    def ends(self, number):
        """Sends the program a signal. Returns the status with which it ends."""
        self._process.send_signal(number)
        return self._process.wait(60)

    def waits_for(self, what, condition):
        def holds():
            assert self._process.poll() is None, "\n".join(["the program has ended:", *self.lines])
            return condition(self.lines)

        try:
            return eventually(what, holds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n" + "\n".join(self.lines[-20:]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # With the children of the example in shell. A program that has ended may leave none.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


def snippets(document):
    """The programs in a document: its blocks in Python, JavaScript and Go."""
    with open(os.path.join(checks.ROOT, document), encoding="utf-8") as file:
        return re.findall(r"```(python|js|go)\n(.*?)```", file.read(), re.DOTALL)


def guide(binaries):
    def run(document):
        with Shop(binaries) as shop:
            found = snippets(document)
            for number, (language, text) in enumerate(found):
                path = os.path.join(shop.world.folder, f"snippet{number}.{ENDINGS[language]}")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                words, variables = shop.words(path)
                if "events.take()" in text or "err = events.Next(ctx)" in text:
                    # A program that goes on: it shows the user, and the next one after an event.
                    with Running(words, variables) as program:
                        program.waits_for("the user is shown", lambda lines: lines and lines[0].startswith("alice"))
                        shop.world.call("messaging.logoutUser", instance="front-desk")
                        program.waits_for("the logout is shown", lambda lines: not lines[-1].startswith("alice"))
                        output = "".join(program.lines)
                else:
                    output = checks.command(*words, environment=variables, limit=60)
                    assert "Authorization" in output or "asyncio" in text or "attach" in text, output
                assert shop.jwt not in output
                shop.log_in()

    for document in DOCUMENTS:
        if snippets(document):
            yield f"the programs in {document} run", functools.partial(run, document)


def recipes(binaries):
    """The recipes of Flatpak and Snap in the guide for apps."""
    def read():
        import yaml

        with open(os.path.join(checks.ROOT, "Packaging", "documentation", "app-guide.md"), encoding="utf-8") as file:
            flatpak, snap = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", file.read(), re.DOTALL))
        own, system = checks.command("/usr/bin/python3", "-c", "import sdkd; print(sdkd.user_socket(), sdkd.system_socket())",
                                     environment=checks.environment(XDG_RUNTIME_DIR="/xdg-run")).split()
        assert f"--filesystem={os.path.dirname(own)[1:]}" in flatpak["finish-args"], (own, flatpak)
        # What flatpak-builder and snapcraft ask for.
        assert {"id", "runtime", "runtime-version", "sdk", "command", "modules"} <= set(flatpak), flatpak
        assert {"name", "version", "summary", "description", "base", "confinement", "parts"} <= set(snap), snap
        assert snap["plugs"]["sdkd"] == {"interface": "system-files", "write": [system]}, (system, snap)
        app = snap["apps"]["front-desk"]
        assert app["environment"]["SDKD_SOCKET"] == system and "sdkd" in app["plugs"], app

    yield "the recipes for Flatpak and Snap are read, and lead to the sockets", read


def state(lines):
    """What a desk shows now: the last line that is about no event."""
    return next((line for line in reversed(lines) if not line.startswith("event ")), "")


def examples(binaries):
    def follow(shop, path):
        words, variables = shop.words(path)
        with Running([*words, "front-desk"], variables) as program:
            program.waits_for("the user is shown", lambda lines: state(lines).startswith("user alice"))
            shop.world.end()
            program.waits_for("it says that the daemon is away", lambda lines: state(lines).startswith("offline"))
            shop.world.start()
            program.waits_for("it shows the user again", lambda lines: state(lines).startswith("user alice"))
            shop.world.call("messaging.logoutUser", instance="front-desk")
            program.waits_for("the logout is shown", lambda lines: "event userLoggedOut front-desk" in lines)
            program.waits_for("nobody is shown", lambda lines: state(lines) == "please sign in")
            assert program.lines.count("event userLoggedOut front-desk") == 1, program.lines
            assert shop.jwt not in "".join(program.lines)

    def sign(shop, path):
        """Signs in and out at the desk."""
        words, variables = shop.words(path)
        option = [] if path.endswith(".sh") else ["--tokens"]
        with Running([*words, "front-desk", *option, shop.tokens()], variables) as program:
            program.waits_for("nobody is shown", lambda lines: state(lines).startswith("please sign in"))
            program.say("in bob")
            program.waits_for("the user is shown", lambda lines: state(lines).startswith("user bob"))
            assert shop.world.call("instance.get", instance="front-desk")["user"]["externalId"] == "bob"
            program.say("out")
            program.waits_for("nobody is shown", lambda lines: state(lines) == "please sign in")
            assert shop.world.call("instance.get", instance="front-desk")["state"] == "loggedOut"

    def expire(shop, path):
        """A user whose token has expired, and for whom there is no other, is no longer shown as signed in."""
        shop.world.call("messaging.loginUser", instance="front-desk", jwt=shop.world.mint("eve", ttl=3))
        words, variables = shop.words(path)
        with Running([*words, "front-desk"], variables) as program:
            program.waits_for("the end is shown", lambda lines: state(lines) == "please sign in again, eve")

    def wait(shop, path):
        """A desk that is started before the daemon waits for it."""
        shop.world.end()
        words, variables = shop.words(path)
        with Running([*words, "front-desk"], variables) as program:
            program.waits_for("it says that there is no daemon", lambda lines: state(lines).startswith("offline"))
            shop.world.start()
            program.waits_for("nobody is shown", lambda lines: state(lines).startswith("please sign in"))
            shop.log_in()
            program.waits_for("the login is shown", lambda lines: state(lines).startswith("user alice"))

    def fail(shop, path):
        words, variables = shop.words(path)
        # At a terminal, where nothing is typed.
        read, write = os.pipe()
        with open(read, "rb") as nothing, open(write, "wb"):
            done = subprocess.run([*words, "nothing"], env=variables, stdin=nothing, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=60)
        assert done.returncode not in (0, None) and "instanceNotFound" in done.stderr, done

    def look(shop, path):
        shop.world.call("instance.create", instance="nobody", kind="zendesk.messaging", settings=shop.world.settings())
        words, variables = shop.words(path)
        with Running([*words, "nobody"], variables) as program:
            program.waits_for("it has looked", lambda lines: "please sign in" in lines)
        assert shop.world.call("instance.get", instance="nobody")["state"] == "noUser", "looking has created a user"

    def both(name):
        with Shop(binaries) as shop:
            path = os.path.join(EXAMPLES, name)
            with open(path, encoding="utf-8") as file:
                assert len(file.readlines()) <= 120, f"{name} has more than 120 lines"
            if name.endswith(".mjs"):
                path = shutil.copy(path, shop.world.folder)
            follow(shop, path)
            fail(shop, path)
            look(shop, path)
            expire(shop, path)
            sign(shop, path)
            wait(shop, path)

    for name in ("python/front_desk.py", "node/front-desk.mjs", "shell/front-desk.sh"):
        yield f"the example {name} signs in and out, and shows the end of a user and of the daemon", functools.partial(both, name)


def desk(binaries):
    def show():
        with Shop(binaries) as shop:
            screen = Screen(shop.world.folder)
            try:
                words, variables = shop.words(os.path.join(checks.HERE, "gtk_probe.py"))
                # Drawn by the processor, and without a session bus.
                variables = {**variables, "DISPLAY": screen.name, "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo",
                             "DBUS_SESSION_BUS_ADDRESS": "disabled:", "NO_AT_BRIDGE": "1"}
                path = os.path.join(EXAMPLES, "python", "front_desk_gtk.py")
                with Running([*words, path, "front-desk", shop.tokens()], variables) as program:
                    def shows(*texts):
                        def holds(lines):
                            line = next((line for line in reversed(lines) if line.startswith("[")), "[]")
                            return set(texts) <= {text.split("  ")[-1] for text in json.loads(line)}

                        program.waits_for(f"the window shows {texts}", holds)

                    shows("alice", "zendesk.messaging: authenticated")
                    shop.world.call("messaging.logoutUser", instance="front-desk")
                    shows("userLoggedOut", "identityWiped", "zendesk.messaging: loggedOut")
                    shop.world.end()
                    shows("Offline", sentence("noDaemon"))
                    shop.world.start()
                    shows("zendesk.messaging: loggedOut")
                    shop.world.call("messaging.loginUser", instance="front-desk", jwt=shop.world.mint("eve", ttl=3))
                    shows("userLoggedIn", "eve", sentence("reauthNeeded"))
                    for name in ("bob", "alice"):
                        program.say(f"type {name}")
                        program.say("click Sign in")
                        shows(name, "zendesk.messaging: authenticated")
                        assert shop.world.call("instance.get", instance="front-desk")["user"]["externalId"] == name
                        if name == "bob":
                            program.say("click Sign out")
                            shows("zendesk.messaging: loggedOut")
                    picture = eventually("the window is drawn", lambda: drawn(screen))
                with open(os.path.join(checks.SCRATCH, "front-desk.png"), "wb") as file:
                    file.write(picture)
            finally:
                screen.close()

    def sentence(reason):
        return checks.command("/usr/bin/python3", "-c", f"import sdkd; print(sdkd.sentence({reason!r}))",
                              environment=checks.environment()).strip()

    def drawn(screen):
        first = screen.picture()
        return first if len(first) > 4000 and first == screen.picture() else None

    def kept():
        path = os.path.join(checks.ROOT, "Packaging", "documentation", "front-desk.png")
        assert 1000 < os.path.getsize(path) < 60 << 10, "the picture in the guide is missing or too large"

    yield "the front desk in GTK signs in and out, and shows users, events and the end of both", show
    yield "the guide has its picture", kept


CHECKS = {"guide": guide, "recipes": recipes, "examples": examples, "desk": desk}
