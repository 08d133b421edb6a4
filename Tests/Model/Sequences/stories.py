"""Sequences of steps, drawn from a number. Each step is plain data, so that any part of a sequence is one, too."""
import random

import known
from vendors import LEAVING, ROUTES, SETTINGS, STEPS

USERS = ["alice", "alice", "bob", "bob", "carol"]
FAULTS = ["503", "503", "refusal", "hang", "cut"]
WAYS = ["good", "good", "late", "silent", "error", "no", "deny"]
# Every kind has these; a step that occurs twice is twice as likely.
READS = ["token", "token", "open", "user", "get", "refresh", "pushes"]
CHANGES = ["put", "put", "remove", "label", "push"]


class Story:
    """Draws the steps of one sequence."""

    def __init__(self, letter, number):
        self.letter, self.number, self.steps = letter, number, []
        self.draw = random.Random(f"{letter} {number}")
        shape = self.draw.random()
        if letter in SETTINGS and self.draw.random() < 0.3:
            self.add("settings", settings=self.draw.choice(SETTINGS[letter]))
        if self.draw.random() < 0.85:
            self.add("sign_in", user="alice", fresh=True, service="cases", wait=True)
            if letter in "me" and self.draw.random() < 0.2:
                self.add("push", service="cases")
        self.add("pace", "rest", pace=self.draw.choice(["mixed", "mixed", "slow", "quick"]))
        if shape < 0.4:
            self.overlap()
        elif shape < 0.5:
            self.repeat()
        elif shape < 0.62:
            self.come_back()
        elif shape < 0.74:
            self.fail_bridge()
        else:
            self.everything()

    def add(self, do, pause=0, **more):
        self.steps.append({"at": len(self.steps), "do": do, "pause": pause, "line": self.draw.randrange(3)} | more)

    def pause(self):
        return self.draw.choice([0, 0, 0, 0.02, 0.05, 0.15, 0.3, "answer"])

    def service(self):
        return self.draw.choice(["cases", "cases", "knowledge"])

    def identity(self):
        if self.draw.random() < 0.7:
            self.add("sign_in", self.pause(), user=self.draw.choice(USERS), fresh=self.draw.random() < 0.6, service=self.service(),
                     wait=self.draw.random() < 0.3)
            if self.letter == "f":
                # The services then have one grant.
                self.steps[-1]["shared"] = self.draw.random() < 0.4
        else:
            self.add("sign_out", self.pause(), service=self.service(), wait=self.draw.random() < 0.3)
        if self.draw.random() < 0.25:
            # What the same connection asks right behind the change.
            line, service = self.steps[-1]["line"], self.steps[-1]["service"]
            self.add(self.draw.choice(READS + ["put"]), self.draw.choice([0, 0, 0.02]), service=service, key="k1")
            self.steps[-1]["line"] = line

    def one(self, names):
        self.add(self.draw.choice(names), self.pause(), service=self.service(), key=self.draw.choice(["k1", "k2"]))

    def fault(self):
        self.add("fault", route=self.draw.choice(ROUTES[self.letter]), fault=self.draw.choice(FAULTS))

    def overlap(self):
        """A user who is in, then two to five changes that overlap."""
        if self.draw.random() < 0.35:
            self.fault()
        if self.draw.random() < 0.5:
            self.add("delegate", way=self.draw.choice(WAYS))
        for _ in range(self.draw.randint(2, 5)):
            if self.draw.random() < 0.6:
                self.identity()
            else:
                self.one(STEPS[self.letter] * 2 + CHANGES + READS)

    def repeat(self):
        """The same identity again while it is in progress."""
        if self.draw.random() < 0.5:
            self.add("delegate", way=self.draw.choice(["late", "late", "good", "silent"]))
        name = "ask_in" if self.letter == "s" and self.draw.random() < 0.6 else "sign_in"
        user, line = self.draw.choice(USERS), self.draw.randrange(3)
        for number in range(self.draw.choice([2, 2, 3])):
            self.add(name, self.draw.choice([0, 0.02, 0.1, 0.2]), user=user, fresh=number == 0, service="cases",
                     wait=self.draw.random() < 0.5)
            if self.draw.random() < 0.7:
                self.steps[-1]["line"] = line

    def come_back(self):
        """A user goes and returns while the vendor still hears of it."""
        if self.draw.random() < 0.6:
            self.add("fault", route=self.draw.choice(LEAVING[self.letter]), fault=self.draw.choice(FAULTS))
        user = "alice"
        for _ in range(self.draw.choice([1, 1, 2])):
            if self.draw.random() < 0.6:
                self.add("sign_in", self.pause(), user="bob", fresh=True, service="cases", wait=self.draw.random() < 0.3)
            else:
                self.add("sign_out", self.pause(), service="cases", wait=self.draw.random() < 0.3)
            if self.draw.random() < 0.3:
                self.one(STEPS[self.letter] + CHANGES + READS)
            self.add("sign_in", self.pause(), user=user, fresh=self.draw.random() < 0.3, service="cases",
                     wait=self.draw.random() < 0.3)
            user = "bob"

    def fail_bridge(self):
        """The vendor refuses what it knew, and nobody supplies a credential."""
        self.add("delegate", way=self.draw.choice(["silent", "error", "error"]))
        self.add("revoke")
        if self.draw.random() < 0.4:
            self.fault()
        for _ in range(self.draw.randint(3, 6)):
            name = self.draw.choice(["refresh", "refresh", "reject", "open", "token"])
            self.add(name, self.draw.choice(["answer", "answer", 0.1, 0.3]), service="cases")

    def everything(self):
        for _ in range(self.draw.randint(6, 22)):
            way = self.draw.random()
            if way < 0.3:
                self.identity()
            elif way < 0.8:
                self.one(STEPS[self.letter] + CHANGES + READS + ["reject"])
            elif way < 0.86:
                self.add(self.draw.choice(["kill", "restart"]), self.draw.choice([0, 0.1, 0.3, "rest"]))
            elif way < 0.92:
                self.fault()
            elif way < 0.96:
                self.add("delegate", way=self.draw.choice(WAYS))
            else:
                self.add(self.draw.choice(["revoke", "pace"]), pace=self.draw.choice(["quick", "mixed", "slow"]))


def steps_of(letter, number):
    """The steps of a sequence: a known one for a small number, else one that the number draws."""
    return known.steps(number) if number < len(known.KNOWN) else Story(letter, number).steps


# What a step is about; the rest it has like all others.
SHOWN = {
    "sign_in": ["user", "fresh", "service", "wait", "named", "shared"], "sign_out": ["service", "wait"], "fault": ["route", "fault"],
    "hold": ["route", "seconds", "early"], "settings": ["settings"], "pace": ["pace"], "delegate": ["way"],
    **dict.fromkeys(["get", "put", "remove"], ["key"]),
    **dict.fromkeys(["token", "refresh", "reject", "open", "user", "push"], ["service"])}


def text(step):
    """A step in one line."""
    words = [f"{name}={step[name]}" for name in SHOWN.get(step["do"], []) if name in step]
    pause = f"after {step['pause']}" if step["pause"] else "at once"
    return f"{step['at']:3} connection {step['line']}, {pause}: {' '.join([step['do'], *words])}"
