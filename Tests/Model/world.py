"""What all actors share: the instances, what was checked, the last calls, and the first failure."""
import collections, os, random, re, threading, time

from identity import Users
from kinds import KINDS, Names


class Stopped(Exception):
    """The run is over."""


class Instance:
    """An instance with the users that its one owner signs in."""

    def __init__(self, name, letter, group):
        self.name, self.letter, self.kind, self.group = name, letter, KINDS[letter][0], group
        self.users = Users()
        # Instances that many change at once: any user ever sent may be current.
        self.is_wild = group == "w"
        # Its vendor is one of the places that the run watches.
        self.is_outside = group != "a"


class World:
    def __init__(self, programs, seed, steps, seconds):
        self.programs, self.seed, self.steps = programs, seed, steps
        self.daemon, self.sandbox, self.outside = programs.daemon, programs.sandbox, programs.outside
        self.names = Names(programs.sandbox)
        self.end = time.monotonic() + seconds
        self.stopping = threading.Event()
        self.failure, self.checks, self.calls = None, collections.Counter(), collections.Counter()
        # What must happen for a check to mean something, and how often it did.
        self.occurred = collections.Counter()
        self.records, self.progress = {}, collections.Counter()
        self.lock = threading.Lock()
        # A token's id and a cursor that somebody has seen.
        self.token_id, self.cursor = "0" * 16, None
        own = os.geteuid()
        self.uids = {"a": 61001, "b": 61002} if own == 0 else {"a": own, "b": own}
        self.uids["w"] = None
        self.instances = [
            Instance(f"g{group}-{letter}{number}", letter, group)
            for group in "abw" for letter in KINDS for number in range(1)]
        self.instances += [Instance("ga-m1", "m", "a"), Instance("gb-m1", "m", "b")]
        self.hidden = {
            group: "|".join(one.name for one in self.instances if one.group == other) for group, other in ("ab", "ba")}

    def vendor(self, instance):
        return self.outside if instance.is_outside else self.sandbox

    def stream(self, actor):
        """The random numbers of one actor: the same for the same seed, whatever the others do."""
        return random.Random(f"{self.seed} {actor}")

    def count(self, invariant):
        self.checks[invariant] += 1

    def record(self, actor, text):
        lines = self.records.setdefault(actor, collections.deque(maxlen=40))
        lines.append(f"{time.monotonic():.3f} {text}")

    def fail(self, what, *actors):
        """Ends the run. The first failure counts."""
        with self.lock:
            if not self.failure:
                name = threading.current_thread().name
                self.failure = (what, {name: list(self.records.get(name, []))} | {
                    actor: list(self.records.get(actor, [])) for actor in actors})
        self.stopping.set()
        raise Stopped()

    def check_running(self):
        if self.failure or time.monotonic() > self.end + 200:
            raise Stopped()

    @property
    def is_over(self):
        return self.stopping.is_set() or time.monotonic() > self.end

    def overheard(self, line, text, calls):
        """Nothing of another group's instances reaches a uid that has no role on them."""
        group = next((group for group, uid in self.uids.items() if uid == line.uid), None)
        if line.uid is None or len(set(self.uids.values())) < 3 or not group:
            return
        self.count("nothing of hidden instances is seen")
        # Whole names: a cursor is random, and may begin as they do.
        names = self.hidden[group]
        asked = any(call and re.search(names, str(call[1])) for call in calls)
        if re.search(rf'"({names})\b'.encode(), text) and not asked:
            self.fail(f"uid {line.uid} sees a hidden instance: {text[:400]}", line.owner)

    def check_user(self, instance, user, since, until, what, actor):
        """No answer names a user who could not be current."""
        if user is None:
            return
        self.count("no token of a former user")
        if not instance.users.may_be(user, since, until):
            now = time.monotonic()
            self.fail(
                f"{what} of {instance.name}, sent {since - now:.3f} s, answered {until - now:.3f} s, names {user}. "
                f"Who could be current: {instance.users}", actor, f"owner {instance.name}")
