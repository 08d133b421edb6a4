"""Plays sequences side by side until the time is over, and shortens what fails."""
import asyncio, collections, itertools, random, time

from judge import judge
from known import KNOWN
from play import play
from shrink import shortest
from stories import steps_of, text

# The sequences mostly wait.
ABREAST = 5
# How often a sequence is played to see whether it fails: how calls interleave differs.
TRIES = 3


class Campaign:
    def __init__(self, seed, kinds, binary, rules=None):
        self.rules = rules
        self.kinds, self.binary, self.draw = kinds, binary, random.Random(f"orders {seed}")
        self.counts, self.failures, self.next = collections.Counter(), [], self.sequences()

    async def run(self, seconds, stop_at_failure=True):
        """Returns the first failure as its kind, its number, what is broken and the record; `None` when all rules hold."""
        self.end, self.stops = time.monotonic() + seconds, stop_at_failure
        await asyncio.gather(*(self.lane() for _ in range(ABREAST)))
        return self.failures[0] if self.failures else None

    def sequences(self):
        """Kinds and numbers: the sequences that have failed once, then what the seed draws until the time is over."""
        yield from ((letter, number) for number, (letter, *_) in enumerate(KNOWN) if letter in self.kinds)
        for letter in itertools.cycle(self.kinds):
            if time.monotonic() > self.end:
                return
            yield letter, self.draw.randrange(len(KNOWN), 1 << 24)

    async def lane(self):
        for letter, number in self.next:
            if self.failures and self.stops:
                return
            broken = await self.one(letter, number, steps_of(letter, number))
            if broken:
                self.failures.append((letter, number, broken, self.record))

    async def one(self, letter, number, steps):
        record = await play(letter, number, steps, self.binary)
        self.counts["sequences"] += 1
        self.counts["calls"] += sum(not call.get("own") for call in record["calls"])
        self.counts["events"] += len(record["events"])
        self.counts["requests"] += len(record["vendor"])
        self.counts["lives"] += len(record["lives"])
        self.record = record
        return judge(record, self.rules)

    async def shorten(self, letter, number, rule):
        """Returns the shortest steps that break the rule, with the record of a run in which they did."""
        found = [None]

        async def fails(steps):
            for _ in range(TRIES):
                broken = await self.one(letter, number, steps)
                if any(name == rule for name, _ in broken):
                    found[0] = self.record, broken
                    return True
            return False

        steps = steps_of(letter, number)
        if not await fails(steps):
            return None
        return await shortest(steps, fails), *found[0]


def show(record, broken):
    """The steps of a record, what happened in order, and what is broken."""
    for step in record["steps"]:
        print(" ", text(step))
    lines = []
    for call in record["calls"]:
        if call.get("own"):
            continue
        lines.append((call["sent"], f"{call['line']} → call {call['n']} {call['method']} {call.get('user', '')}"))
        if call["answered"] is not None:
            outcome = call["error"]["data"]["reason"] if call["error"] else str(call["result"])[:70]
            lines.append((call["answered"], f"{call['line']} ← call {call['n']} {outcome}"))
    for entry in record["vendor"]:
        lines.append((entry["arrived"], f"    vendor gets {entry['route']} of {entry['user']} {entry['fault'] or ''}"))
        if entry["answered"] is not None:
            lines.append((entry["answered"], f"    vendor answers {entry['route']} of {entry['user']}: {entry['status']}"))
    for question in record["questions"]:
        lines.append((question["opened"], f"  asked {question['question']}: {question['way']}"))
        lines.append((question["closed"] or 0, f"  question {question['question']} {question['end']}"))
    for event in record["events"]:
        if not event["type"].startswith("delegate"):
            user = (event["data"].get("user") or {}).get("externalId", "")
            lines.append((event["at"], f"  event {event['type']} {event['data'].get('cause', '')} {user}"))
    for life in record["lives"]:
        lines.append((life["began"], "the daemon is ready"))
        if life["ended"]:
            lines += [(life["ended"], life["how"]), (life["gone"], f"the daemon has ended: {life['status']}")]
    for at, line in sorted(lines, key=lambda line: line[0]):
        print(f"{at:8.3f} {line}")
    for rule, what in broken:
        print(f"BROKEN, rule {rule}\n  {what}")
