"""A delegate that comes and goes, and answers well, late, wrongly or never."""
import time

import answers
from actors import Actor


class Delegate(Actor):
    pace = 0

    def open(self):
        self.line, self.late, self.taken_back = self.connect(), [], set()
        self.line.asked, self.line.notified = self.asked, self.notified

    def step(self):
        """Attaches for a while."""
        names = [one.name for one in self.world.instances if one.group != "w"]
        self.line.call("delegate.attach", {
            "instances": self.random.sample(names, self.random.randint(1, 4)), "timeout": self.random.choice([1, 2])})
        end = time.monotonic() + self.random.choice([0.1, 1, 3])
        while time.monotonic() < end and not self.world.is_over:
            self.line.pump(0.05)
            for one in list(self.late):
                if one[0] < time.monotonic():
                    self.late.remove(one)
                    self.reply_late(*one[1:])
        way = self.random.random()
        if way < 0.3:
            self.line.call("delegate.detach", {})
        elif way < 0.7:
            self.close()
            self.open()

    def reply_late(self, id, outcome, instance, user):
        """Counts the answers for users who have gone meanwhile; `check_user` shows that none is used."""
        users = next(one.users for one in self.world.instances if one.name == instance)
        if user not in users.possible():
            self.world.occurred[f"answers for a former user, {'taken back' if id in self.taken_back else 'awaited'}"] += 1
        self.line.reply(id, **outcome)

    def notified(self, method, params):
        if method == "$/cancelRequest":
            self.taken_back.add(params["id"])

    def asked(self, method, question, id):
        self.world.count("a delegate's question has its form")
        if set(question) - {"version", "question", "instance", "kind", "service", "attempt", "user", "error", "deadline"} or (
                method != f"delegate.{question['question']}"):
            self.world.fail(f"the question {method} {question}", self.name)
        behaviour = self.random.choice(["good"] * 6 + ["other", "elsewhere", "expired", "garbage", "error", "defer", "denied", "late", "never", "form"])
        if behaviour == "never":
            return
        try:
            with open(self.world.programs.path("user-" + question["instance"])) as file:
                user = file.read()
        except OSError:
            user = "nobody"
        now = self.world.programs.clock.now()
        stray = self.random.choice(self.world.outside.strays)
        outcome = {"result": answers.answer(question, behaviour, user, now, stray=stray)}
        if behaviour == "form":
            outcome = {"result": self.random.choice([None, [], {"token": 7}, {"unknown": answers.MARK}, "x"])}
        if behaviour == "defer":
            outcome = {"result": {"defer": True}}
        if behaviour in ("error", "denied"):
            data = {"reason": "providerDenied", "retryable": False} if behaviour == "denied" else {}
            outcome = {"error": {"code": -32040 if data else -1, "message": answers.MARK, "data": data}}
        if behaviour == "late":
            named = (question.get("user") or {}).get("externalId") or user
            self.late.append((time.monotonic() + self.random.choice([0.3, 1.5, 3]), id, outcome, question["instance"], named))
        else:
            self.line.reply(id, **outcome)
