"""A caller who is no admin and supplies URLs of places that nobody allowed."""
import base64, json

import answers, facts, kinds
from actors import Actor
from outside import OWN

# The settings with a URL, by kind.
SETTINGS = {letter: kind["sandbox"]["urls"] for letter, kind in facts.ALL.items()}
SETTINGS["m"] = [*SETTINGS["m"], "channel_key"]
# What an instance that can't be reached answers, and a daemon that ends.
BESIDES = {"instanceNotFound", "shuttingDown", "storeUnavailable", "tooManyInstances", "instanceExists"}


class Supplier(Actor):
    pace = 0.15

    def open(self):
        self.line = self.connect(self.world.uids["b"])
        self.maker = self.connect(61006, gid=60)

    def step(self):
        stray = self.random.choice(self.world.outside.strays)
        way = self.random.choice([self.log_in, self.create])
        line, method, params = way(stray)
        result, error = line.call(method, params)
        if not error:
            self.world.fail(f"a caller supplies {stray}: {method} {params} answers {result}", self.name)
        if error["data"]["reason"] not in BESIDES:
            self.world.count("a URL that a caller may not supply is refused")

    def log_in(self, stray):
        """A caller with control of an instance whose definition has another place."""
        settings = {"instanceUrl": stray, "accessToken": f"{answers.MARK}-{self.random.random()}", "refreshToken": answers.MARK * 3}
        if self.random.random() < 0.4:
            settings |= {"instanceUrl": f"{OWN}/ns/busy/sf", "communityUrl": stray, "communityId": "1"}
        return self.line, "serviceChat.setAuthenticationSettings", {"instance": "gb-f0", "service": "cases", "settings": settings}

    def create(self, stray):
        """A caller whom a rule lets make instances. The place of another definition is none of its own."""
        letter = self.random.choice(sorted(SETTINGS))
        settings = kinds.settings(letter, self.world.outside)
        settings = {name: value for name, value in settings.items() if name in SETTINGS[letter] or "://" not in str(value)}
        settings |= {name: "https://listed.test" for name in settings if name in SETTINGS[letter]}
        settings |= {"ws_url": "wss://listed.test"} if letter == "e" else {}
        name = self.random.choice(SETTINGS[letter])
        stray = self.random.choice([stray, OWN])
        if name == "channel_key":
            settings.pop("base_url", None)
            stray = base64.b64encode(json.dumps({"settingsUrl": stray + "/x.json"}).encode()).decode()
        if name in ("ws_url", "mediator_url", "realtime_url"):
            stray = stray.replace("http", "ws", 1)
        more = {"kind": kinds.KINDS[letter][0], "settings": settings | {name: stray}}
        return self.maker, "instance.create", {"instance": f"k-s{self.random.randint(0, 9)}"} | more
