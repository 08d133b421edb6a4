"""The owner of an instance: the one who signs its users in, keeps its storage, and knows what must be there."""
import time

import answers, kinds
from actors import Actor
from crowd import USERS
from wire import Lost


def has_happened(error):
    """Whether a change has happened. One error only says that the disk still holds the former user's key."""
    return not error or error["message"].startswith("The change is on disk")


class Owner(Actor):
    def __init__(self, world, instance):
        super().__init__(world, f"owner {instance.name}")
        self.instance, self.letter, self.users = instance, instance.letter, instance.users
        self.forget(None)
        self.exists, self.labels, self.epochs = {False}, {None}, set()

    def forget(self, epoch):
        """A wipe: nothing of the former user may be there."""
        self.epoch, self.storage, self.pushes = epoch, {}, set()

    def open(self):
        self.line = self.connect(self.world.uids[self.instance.group])
        self.root = self.connect()
        if True in self.exists:
            self.verify()
        if True not in self.exists:
            self.create()

    def params(self, **more):
        return {"instance": self.instance.name} | more

    def step(self):
        if True not in self.exists:
            return self.create()
        steps = [
            (self.change_user, 7), (self.sign_out, 2), (self.put, 8), (self.remove, 2), (self.push, 2), (self.label, 2),
            (self.verify, 4), (self.read_own, 3), (self.cancel_sign_in, 1), (self.delete, 0.3)]
        self.random.choices([step for step, _ in steps], [weight for _, weight in steps])[0]()

    # The instance

    def create(self):
        uid = self.world.uids[self.instance.group]
        self.exists.add(True)
        self.labels = {None}
        self.forget(None)
        result, error = self.root.call("instance.create", self.params(
            kind=self.instance.kind, settings=kinds.settings(self.letter, self.world.vendor(self.instance)),
            provider={"command": [self.world.programs.provider], "timeout": 2},
            access={"control": [f"uid:{uid}"], "use": [f"uid:{uid}" for uid in USERS]}))
        if error:
            self.exists = {error["data"]["reason"] == "instanceExists"}
            return
        self.exists = {True}
        self.forget(result["storageEpoch"])
        self.epochs.add(self.epoch)

    def delete(self):
        self.exists.add(False)
        _, error = self.root.call("instance.delete", self.params())
        self.exists = {not has_happened(error)}
        if has_happened(error):
            self.users.settle(None)

    def label(self):
        value = str(self.random.random())
        self.labels.add(value)
        _, error = self.root.call("instance.update", self.params(labels={"n": value}))
        self.labels = self.labels - {value} if error else {value}

    # The user

    def user(self):
        return f"{self.instance.name}-u{self.random.randint(0, 3)}"

    def begin(self, user):
        """What signs the user in; the providers answer for this user from now on."""
        change = kinds.sign_in(self.letter, user, self.world, self.random.choice([5, 60, 600, 3000]), self.world.vendor(self.instance))
        if change:
            self.users.begin(user)
            self.write(f"user-{self.instance.name}", user)
        return change

    def change_user(self):
        users = [self.user() for _ in range(self.random.choice([1, 1, 1, 2]))]
        if self.letter == "c":
            # Another visitor takes a reset first, and the providers must not answer for the next before it is done.
            users = users[:1]
            if users != list(self.users.possible()) and not self.sign_out():
                return
        elif self.random.random() < 0.2:
            users.insert(0, None)
        self.change(users)

    def change(self, users):
        """Signs users in, and out for `None`, one call right after the other. The last that succeeds is current."""
        calls = [(user, self.begin(user) if user else kinds.sign_out(self.letter)) for user in users]
        calls = [(user, call) for user, call in calls if call]
        ids = [self.line.send(method, self.params(**params)) for _, (method, params) in calls]
        look = self.line.send("instance.currentUser", self.params(**kinds.service(self.letter)))
        errors = [self.line.answer(id)[1] for id in ids]
        result = self.line.answer(look)[0]
        done = [user for (user, _), error in zip(calls, errors) if has_happened(error)]
        if done:
            self.users.settle(done[-1])
        else:
            for user, _ in calls:
                self.users.drop(user)
        if done and result and errors[-1] is None and self.letter != "c":
            self.world.count("a read sees the change before it on its connection")
            seen = self.world.names.of_user(self.letter, result)
            if seen and seen != done[-1]:
                self.world.fail(f"{self.instance.name}: {seen} is seen after {done[-1]} was signed in", self.name)
        return bool(done)

    def sign_out(self):
        return self.change([None])

    def cancel_sign_in(self):
        """A cancelled call has not happened, or it answers normally."""
        if self.letter == "c":
            return
        user = self.user()
        call = self.begin(user)
        if call:
            id = self.line.send(call[0], self.params(**call[1]))
            time.sleep(self.random.choice([0, 0.005, 0.05]))
            self.line.notify("$/cancelRequest", {"id": id})
            error = self.line.answer(id)[1]
            self.users.settle(user) if has_happened(error) else self.users.drop(user)

    def read_own(self):
        since = time.monotonic()
        result, _ = self.line.call("token.get", self.params(**kinds.service(self.letter)))
        if result:
            user = self.world.names.of_token(self.letter, result["token"])
            self.world.check_user(self.instance, user, since, time.monotonic(), "token.get", self.name)

    # What is kept

    def put(self):
        key, value = f"k{self.random.randint(0, 9)}", f"{answers.MARK}-{self.random.random()}" * self.random.choice([1, 1, 99])
        self.write_storage("storage.put", key, {"value": value})

    def remove(self):
        self.write_storage("storage.delete", f"k{self.random.randint(0, 9)}", {})

    def write_storage(self, method, key, more):
        """A read right after the write, on the same connection, sees it."""
        value, former = more.get("value"), self.storage.get(key, {None})
        self.storage[key] = former | {value}
        id = self.line.send(method, self.params(key=key, storageEpoch=self.epoch, **more))
        look = self.line.send("storage.get", self.params(key=key))
        _, error = self.line.answer(id)
        self.storage[key] = former if error else {value}
        result, _ = self.line.answer(look)
        if result and result["storageEpoch"] == self.epoch:
            self.compare(key, result["value"])

    def compare(self, key, value):
        self.world.count("no acknowledged write is lost")
        if value not in self.storage.get(key, {None}):
            self.world.fail(
                f"{self.instance.name}: {key} holds {str(value)[:80]} in epoch {self.epoch}, and must hold one of "
                f"{[str(one)[:80] for one in self.storage.get(key, {None})]}", self.name)
        self.storage[key] = {value}

    def push(self):
        address = f"{answers.MARK}-{self.random.random()}"
        # One that is cut off may have replaced the former.
        former, self.pushes = self.pushes, set()
        result, _ = self.line.call("push.register", self.params(
            endpoint={"address": address, "type": "fcm"}, **kinds.service(self.letter)))
        self.pushes = {result["id"]} if result else former

    # What must hold

    def verify(self):
        result, error = self.root.call("instance.get", self.params())
        if error and error["data"]["reason"] != "instanceNotFound":
            return
        self.world.count("no acknowledged instance or label is lost")
        if bool(result) not in self.exists or (result and result["labels"].get("n") not in self.labels):
            self.world.fail(
                f"{self.instance.name}: there is {result and result['labels']}; expected is one of {self.labels}, and "
                f"whether it exists {self.exists}: {error}", self.name)
        self.exists = {bool(result)}
        if not result:
            self.users.settle(None)
            return
        self.labels = {result["labels"].get("n")}
        for _ in range(5):
            if self.verify_storage():
                return self.verify_user()

    def verify_storage(self):
        """Returns whether no wipe came in between."""
        pushes, _ = self.line.call("push.list", self.params())
        keys, error = self.line.call("storage.list", self.params())
        if error or not pushes:
            return True
        if keys["storageEpoch"] != self.epoch:
            self.expect_wipe(keys["storageEpoch"])
            return False
        self.world.count("no acknowledged write is lost")
        listed = {key["key"] for key in keys["keys"]}
        lost = {key for key, values in self.storage.items() if None not in values} - listed
        stray = {key for key in listed if self.storage.get(key, {None}) == {None}}
        if lost or stray:
            self.world.fail(f"{self.instance.name}: in epoch {self.epoch} {lost} are lost and {stray} are stray", self.name)
        if self.letter in "ms" and self.pushes - {push["id"] for push in pushes["pushes"]}:
            again, _ = self.line.call("storage.list", self.params())
            if again and again["storageEpoch"] == self.epoch:
                self.world.fail(f"{self.instance.name}: the push {self.pushes} is lost: {pushes}", self.name)
            return False
        for key in sorted(listed)[:2]:
            result, _ = self.line.call("storage.get", self.params(key=key))
            if result and result["storageEpoch"] == self.epoch:
                self.compare(key, result["value"])
        return True

    def expect_wipe(self, epoch):
        """A new epoch is told by an event, and never comes back."""
        self.world.count("a wipe is told, and its epoch is new")
        events = self.events("identityWiped")
        told = {event["data"]["storageEpoch"] for event in events or []}
        if self.epoch and events is not None and (epoch in self.epochs or epoch not in told):
            self.world.fail(
                f"{self.instance.name}: epoch {epoch} follows {self.epoch} without identityWiped, or again", self.name)
        self.forget(epoch)
        self.epochs.add(epoch)

    def events(self, *types):
        """All that are kept; `None` when they can't be read."""
        events, since = [], {}
        while True:
            page, _ = self.root.call(
                "events.list", {"instances": [self.instance.name], "types": list(types), "limit": 500} | since)
            if not page:
                return None
            events += page["events"]
            since = {"since": page.get("next")}
            if not page.get("next"):
                return events

    def verify_user(self):
        """The user of the state is the user of the events."""
        if self.letter not in "me":
            return
        found = None
        for _ in range(20):
            found = self.compare_user()
            if not found:
                return
            time.sleep(0.25)
        self.world.fail(f"{self.instance.name}: {found}", self.name)

    def compare_user(self):
        """How the two differ, if they do."""
        before, _ = self.root.call("instance.get", self.params())
        events = self.events("userLoggedIn", "userLoggedOut", "instanceCreated")
        after, _ = self.root.call("instance.get", self.params())
        if not events or not before or not after or before["user"] != after["user"]:
            return None
        last, user = events[-1], after["user"]
        seen = user.get("externalId")
        told = last["data"]["user"].get("externalId") if last["type"] == "userLoggedIn" else None
        self.world.count("the user of the state is the user of the events")
        # Events name the identifier of the Chat Center by a digest. A sign-in under way, or refused, shows its user there.
        differs = told != seen if self.letter == "m" else bool(told) != bool(seen) and (told or user["authenticated"])
        return differs and f"the user is {seen}, the state {after['state']}, {after.get('lastError')}, and the last event says {last}"
