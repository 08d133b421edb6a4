"""The administrator, and the neighbour whom nothing may disturb."""
import os, time

import answers, kinds
from actors import Actor

MISTAKES = ["[limits]\nno_such_key = 1\n", "[log]\nlevel = 7\n", "[[[", "[[access.create]]\nwho = [1]\n", 'x = "\\uD800"\n']
SETTINGS = ["", '[log]\nlevel = "debug"\n', '[log]\nlevel = "notice"\n', "[bridge]\nmax_concurrent = 4\n"]


class Admin(Actor):
    pace = 0.3

    def open(self):
        self.line = self.connect()

    def step(self):
        if self.random.random() < 0.5:
            return self.reload()
        method, params = self.random.choice(
            [("daemon.setLogLevel", {"level": "trace", "seconds": 2}), ("daemon.setLogLevel", {}), ("daemon.backup", {}),
             ("daemon.backup", {"name": f"b{self.random.randint(0, 2)}"}), ("daemon.rotateKey", {})])
        self.line.call(method, params)

    def file(self, number):
        return os.path.join(self.world.programs.folder, "instances.d", f"file-{number}.toml")

    def reload(self):
        """Puts a configuration in force, or tries to; a mistake changes nothing."""
        daemon = self.world.daemon
        with daemon.configuring:
            number = self.random.randint(0, 2)
            if self.random.random() < 0.5:
                self.write_instance(number)
            elif os.path.exists(self.file(number)):
                os.unlink(self.file(number))
            is_wrong = self.random.random() < 0.3
            daemon.configure(self.random.choice(MISTAKES if is_wrong else SETTINGS))
            try:
                result, error = self.line.call("daemon.reload")
                self.world.count("a configuration with a mistake changes nothing")
                if is_wrong and not error:
                    self.world.fail("a configuration with a mistake was put in force", self.name)
                if not is_wrong and error and error["data"]["reason"] == "invalidConfiguration":
                    self.world.fail(f"a good configuration is refused: {error}", self.name)
                # An instance that could not be stored is named among the problems, and is tried again.
                if not error and f"file-{number}" not in str(result["problems"]):
                    found, _ = self.line.call("instance.get", {"instance": f"file-{number}"})
                    self.world.count("the instances of files are those of the reload")
                    if bool(found) != os.path.exists(self.file(number)):
                        self.world.fail(f"file-{number} after a reload: {found}, {result}", self.name)
            finally:
                daemon.configure("")

    def write_instance(self, number):
        settings = kinds.settings("m", self.world.sandbox)
        with open(self.file(number) + ".new", "w") as file:
            file.write(f'id = "file-{number}"\nkind = "zendesk.messaging"\nlabels = {{ n = "{self.random.randint(0, 9)}" }}\n'
                       f'[settings]\nbase_url = "{settings["base_url"]}"\napp_id = "{settings["app_id"]}"\n')
        os.replace(file.name, self.file(number))


class Neighbour(Actor):
    """An instance with a cached token. Its answers come soon, from the cache, in every life."""
    pace = 0.05

    def __init__(self, world):
        super().__init__(world, "neighbour")
        self.quiet, self.slowest, self.bound = [], 0, None
        self.name_of_instance = "neighbour"

    def prepare(self):
        """Signs in, and measures while nothing else runs."""
        self.open()
        self.line.call("instance.create", {
            "instance": "neighbour", "kind": "zendesk.messaging",
            "settings": kinds.settings("m", self.world.sandbox, "quiet") | {"realtime": "off", "refresh": {"mode": "lazy"}}})
        self.token = answers.credential("m", "neighbour", time.time() - 7200, 30 * 86400)
        result, error = self.line.call("messaging.loginUser", {"instance": "neighbour", "jwt": self.token})
        if error:
            self.world.fail(f"the neighbour can't sign in: {error}", self.name)
        for _ in range(200):
            self.quiet.append(self.measure())
        # A busy machine is a hundred times slower at most; a machine of any speed has a second.
        self.bound = max(3, 100 * sorted(self.quiet)[180])
        self.close()

    def open(self):
        self.line = self.connect()

    def measure(self):
        began, replacements = time.monotonic(), self.world.daemon.replacements
        result, error = self.line.call("token.get", {"instance": "neighbour"})
        seconds = time.monotonic() - began
        # A replacement lasts as long as the logins at slow vendors, up to the grace.
        if replacements % 2 == 1 or replacements != self.world.daemon.replacements:
            seconds = 0
        if error and error["data"]["reason"] == "shuttingDown":
            return 0
        if error or result["token"] != self.token or not result["fromCache"]:
            self.world.fail(f"the neighbour's token is {error or result}", self.name)
        return seconds

    def step(self):
        seconds = self.measure()
        self.slowest = max(self.slowest, seconds)
        self.world.count("an idle neighbour is answered soon")
        if seconds > self.bound:
            self.world.fail(f"the neighbour waited {seconds:.2f} s; quiet it was {sorted(self.quiet)[100]:.4f} s", self.name)
