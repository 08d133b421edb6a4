"""A follower of events, who comes back with the cursor of the last one that it has seen."""
import time

from actors import Actor


class Follower(Actor):
    pace = 0

    def __init__(self, world, name, group=None):
        super().__init__(world, name)
        self.group, self.cursors, self.seen, self.first, self.subscription = group, [], set(), None, None
        self.last, self.texts = {}, {}

    def open(self):
        self.line = self.connect(self.world.uids.get(self.group))
        self.line.notified = self.notified
        since = self.cursors[-1] if self.cursors else self.first
        result, error = self.line.call("events.subscribe", {"since": since} if since else {})
        if error:
            if error["data"]["retryable"]:
                time.sleep(0.2)
                self.close()
                return self.open()
            self.world.fail(f"events.subscribe: {error}", self.name)
        self.subscription = result["subscription"]
        self.first = self.first or result["cursor"]

    def step(self):
        """Listens for a while; then, at times, leaves without a word."""
        end = time.monotonic() + self.random.choice([0.2, 1, 3])
        while time.monotonic() < end and not self.world.is_over:
            self.line.pump(0.1)
        if self.random.random() < 0.3:
            self.close()
            self.open()
        elif self.random.random() < 0.3:
            self.compare()

    def notified(self, method, params):
        if method == "events.gap":
            self.line.send("events.resume", {"subscription": params["subscription"], "since": params["resume"]})
        elif method == "events.event":
            self.take(params["event"])

    def take(self, event):
        self.world.count("no event is told twice")
        cursor = event["cursor"]
        if cursor in self.seen:
            self.world.fail(f"an event is told twice: {event}", self.name)
        self.seen.add(cursor)
        self.cursors.append(cursor)
        self.texts[cursor] = f"{event['time']} {event['instance']} {event['type']}"
        self.world.cursor = cursor
        self.expect_wipe(event)

    def expect_wipe(self, event):
        """A wipe precedes the next user's sign-in."""
        key = event["instance"], event.get("service")
        if event["type"] in ("identityWiped", "userLoggedOut", "instanceDeleted", "instanceCreated", "userMerged"):
            for one in [one for one in self.last if one[0] == event["instance"]]:
                self.last.pop(one)
        if event["type"] == "userLoggedIn":
            user = event["data"]["user"].get("externalId") or event["data"]["user"].get("id")
            self.world.count("a wipe precedes the next user's sign-in")
            if self.last.get(key, user) != user:
                self.world.fail(f"{user} is told of as signed in after {self.last[key]} without a wipe: {event}", self.name)
            self.last[key] = user

    def compare(self):
        """What was told is what is kept, in the same order."""
        kept, since = [], {"since": self.first}
        while True:
            page, error = self.line.call("events.list", {"limit": 500} | since)
            if error:
                return
            kept += [event["cursor"] for event in page["events"]]
            self.texts |= {
                event["cursor"]: f"{event['time']} {event['instance']} {event['type']}" for event in page["events"]}
            if page.get("gap"):
                return
            if not page.get("next"):
                break
            since = {"since": page["next"]}
        end = time.monotonic() + 30
        while len(self.cursors) < len(kept) and time.monotonic() < end:
            self.line.pump(0.1)
        self.world.count("no event is lost")
        if self.cursors[: len(kept)] != kept:
            place = next((i for i, (a, b) in enumerate(zip(self.cursors, kept)) if a != b), min(len(kept), len(self.cursors)))
            self.world.fail(
                f"of {len(kept)} events {len(self.cursors)} were told; the first that differs is number {place}: "
                f"{[self.texts[one] for one in kept[place:place + 3]]} are kept, "
                f"{[self.texts[one] for one in self.cursors[place:place + 3]]} were told", self.name)
