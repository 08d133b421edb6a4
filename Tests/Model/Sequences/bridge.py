"""The app's delegate: answers questions well, late, wrongly or never, as the sequence says."""
import asyncio, random

import answers

LATE = 0.5
# The daemon passes a question on after this time.
TIMEOUT = 1.5


class Bridge:
    def __init__(self, seed, letter, record, now, line, grant):
        self.seed, self.letter, self.record, self.now, self.line, self.grant = seed, letter, record, now, line, grant
        self.way, self.user, self.open = "good", "alice", {}
        line.asked, line.withdrawn = self.asked, self.withdrawn

    def asked(self, id, question):
        entry = {"question": question["question"], "service": question.get("service"), "opened": self.now(), "closed": None,
                 "end": None, "way": self.way, "supplied": None, "denied": False}
        self.record["questions"].append(entry)
        self.open[id] = entry
        asyncio.ensure_future(self.answer(id, entry, question, self.way))

    def withdrawn(self, id):
        self.close(id, "withdrawn")

    def close(self, id, end):
        if entry := self.open.pop(id, None):
            entry |= {"closed": self.now(), "end": end}

    def drop(self):
        """The connection has ended."""
        for id in list(self.open):
            self.close(id, "lost")

    async def answer(self, id, entry, question, way):
        if way == "silent":
            await asyncio.sleep(TIMEOUT)
            return self.close(id, "silent")
        draw = random.Random(f"{self.seed} {len(self.record['questions'])}")
        await asyncio.sleep(LATE if way == "late" else draw.choice([0, 0, 0.15]))
        is_open = id in self.open
        self.close(id, "answered")
        if self.line.writer is None:
            return
        if way in ("error", "deny"):
            entry["denied"] = way == "deny" and is_open
            data = {"reason": "providerDenied", "retryable": False} if way == "deny" else {}
            return self.line.write({"id": id, "error": {"code": -32040 if data else -1, "message": "no", "data": data}})
        result = self.result(question, way)
        entry["denied"] = is_open and (result.get("authenticate") is False or result.get("proceed") is False)
        if is_open and not entry["denied"] and "proceed" not in result:
            entry["supplied"] = (question.get("user") or {}).get("externalId") or self.user
        self.line.write({"id": id, "result": result})

    def result(self, question, way):
        if question["question"] == "authenticationFailed":
            return {"proceed": way != "no"}
        if question["question"] == "shouldAuthenticate":
            settings = {"account": self.grant(self.user)}
            return {"authenticate": False} if way == "no" else {"authenticate": True, "settings": settings}
        user = (question.get("user") or {}).get("externalId") or self.user
        token = answers.credential(self.letter, user, self.record["time"], 600)
        return {answers.member(self.letter): token}
