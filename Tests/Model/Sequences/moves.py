"""What each step of a sequence does."""
import asyncio, signal

import answers, kinds
from bridge import TIMEOUT
from history import TERMINAL

NAME = "desk"


class Moves:
    def __init__(self, play):
        self.play, self.letter, self.record = play, play.letter, play.record
        self.credentials, self.number, self.cursor = {}, 0, None

    async def create(self):
        settings = kinds.settings(self.letter, self.play.vendor)
        for step in self.play.steps:
            settings |= step.get("settings", {})
        params = {"instance": NAME, "kind": kinds.KINDS[self.letter][0], "settings": settings}
        self.record["created"] = await self.ask("instance.create", params)
        self.cursor = (await self.ask("events.subscribe", {"instances": [NAME]}))["cursor"]
        self.record["begin"] = self.cursor
        await self.ask("delegate.attach", {"instances": [NAME], "timeout": TIMEOUT})

    async def attach(self):
        """After a restart: follows the events from the last one, and answers questions again."""
        events = self.record["events"]
        since = events[-1]["cursor"] if events else self.cursor
        await self.ask("events.subscribe", {"instances": [NAME], "since": since})
        await self.ask("delegate.attach", {"instances": [NAME], "timeout": TIMEOUT})

    async def ask(self, method, params):
        """The result of a call of the driver's own, which no rule judges."""
        entry = await self.play.lines[0].call(method, params)
        entry["own"] = True
        return entry["result"] or {}

    async def make(self, step):
        name = step["do"].replace(" ", "_")
        play = self.play
        if name in ("kill", "restart"):
            await play.end(signal.SIGKILL if name == "kill" else signal.SIGTERM, name)
        elif name in ("rest", "settings"):
            pass
        elif name == "pace":
            play.vendor.pace = step["pace"]
        elif name == "hold":
            play.vendor.holds[step["route"]] = list(step["seconds"]), step["early"]
        elif name == "fault":
            play.vendor.faults.setdefault(step["route"], []).append(step["fault"])
        elif name == "delegate":
            play.bridge.way = step["way"]
        elif name == "revoke":
            play.vendor.backend.revoke()
        else:
            method, params, *more = getattr(self, name)(step)
            if method:
                play.lines[step["line"]].send(method, {"instance": NAME} | params, step=step["at"], **dict(*more))
                # Lets the daemon read it before the next step's call on another connection.
                await asyncio.sleep(0.002)

    def service(self, step):
        return {"service": step["service"]} if self.letter == "f" else {}

    # Identity

    def credential(self, user, fresh, service):
        """A new credential, or the last one of this user, on the service if there is one."""
        of = user, service if self.letter == "f" else None
        if fresh or of not in self.credentials:
            if self.letter == "f":
                grant = self.play.vendor.backend.grant(user)
                self.credentials[of] = {name: grant[name] for name in ("access_token", "refresh_token", "instance_url", "id")}
            else:
                self.credentials[of] = answers.credential(self.letter, user, self.record["time"], 600)
        return self.credentials[of]

    def sign_in(self, step):
        user = self.play.bridge.user = step["user"]
        # With `shared`, the services have one grant, whose revocation ends it for all of them.
        given = self.credential(user, step["fresh"], "all" if step.get("shared") else step["service"])
        more = {"user": user, "credential": given["access_token"] if self.letter == "f" else given}
        if self.letter == "f":
            # Without `id` the vendor is asked whose the tokens are.
            account = given if step.get("named", True) else {name: given[name] for name in given if name != "id"}
            return "serviceChat.setAuthenticationSettings", self.service(step) | {"settings": {"account": account}}, more
        method, params = kinds.with_credential(self.letter, user, given)
        if "wait" in params:
            params["wait"] = step["wait"]
        return method, params, more

    def ask_in(self, step):
        more = {"user": self.play.bridge.user, "credential": "bridge"}
        return "support.setIdentity", {"identity": {"type": "jwt"}}, more

    def sign_out(self, step):
        method, params = kinds.sign_out(self.letter)
        if self.letter == "e":
            params = {"wait": step["wait"]}
        return method, params | self.service(step), {"user": None}

    def sign_out_local(self, step):
        return kinds.sign_out(self.letter)[0], {"localOnly": True}, {"user": None}

    def deauthorize(self, step):
        return "chatCenter.deauthorizeUser", {}, {"user": None}

    # Other changes

    def fresh(self, letter):
        self.number += 1
        return f"{letter}{self.number}"

    def put(self, step):
        value = self.fresh("v")
        return "storage.put", {"key": step["key"], "value": value}, {"value": value}

    def remove(self, step):
        return "storage.delete", {"key": step["key"]}

    def label(self, step):
        return "instance.update", {"labels": {"floor": self.fresh("l")}}

    def push(self, step):
        params = {"endpoint": {"address": self.fresh("address-"), "type": "fcm"}} | self.service(step)
        return "serviceChat.registerForPushNotifications" if self.letter == "f" else "push.register", params

    def update_data(self, step):
        return "chatCenter.updateData", {"data": {"d": self.fresh("d")}}

    def prefill(self, step):
        return "chatCenter.prefill", {"message": self.fresh("p")}

    # Reads

    def token(self, step):
        return "token.get", self.service(step) | {"http": True}

    def refresh(self, step):
        return "token.refresh", self.service(step)

    def reject(self, step):
        tokens = [call["result"]["tokenId"] for call in self.record["calls"] if "tokenId" in (call["result"] or {})]
        if not tokens:
            return None, {}
        return "token.reject", self.service(step) | {"tokenId": tokens[-1], "status": 401}

    def open(self, step):
        return "session.open", self.service(step)

    def chat(self, step):
        return "chatCenter.getChat", {}

    def user(self, step):
        return "instance.currentUser", self.service(step)

    def get(self, step):
        return "storage.get", {"key": step["key"]}

    def pushes(self, step):
        return "push.list", {}

    # The state

    def operations(self):
        """The accepted operations without an outcome."""
        ended = {event.get("operation") for event in self.record["events"] if event["type"] in TERMINAL}
        began = self.record["lives"][-1]["began"]
        return [call for call in self.record["calls"] if call["sent"] > began and call["result"]
                and call["result"].get("operation", None) not in ended | {None}]

    async def instance(self):
        return await self.ask("instance.get", {"instance": NAME})

    async def snapshot(self):
        state = {"at": self.play.now(), "instance": await self.instance(), "storage": {}, "users": {}}
        for service in ("cases", "knowledge") if self.letter == "f" else ("",):
            more = {"service": service} if service else {}
            state["users"][service] = await self.ask("instance.currentUser", {"instance": NAME} | more)
        for key in ("k1", "k2"):
            got = await self.ask("storage.get", {"instance": NAME, "key": key})
            state["storage"][key], state["epoch"] = got.get("value"), got.get("storageEpoch")
        state["pushes"] = (await self.ask("push.list", {"instance": NAME})).get("pushes")
        state["events"], since = [], self.record["begin"]
        while True:
            page = await self.ask("events.list", {"instances": [NAME], "since": since, "limit": 100})
            state["events"] += page.get("events", [])
            if not page.get("next"):
                return state
            since = page["next"]

    async def tokens(self):
        tokens = {}
        for service in ("cases", "knowledge") if self.letter == "f" else ("",):
            more = {"service": service} if service else {}
            tokens[service] = await self.ask("token.get", {"instance": NAME} | more)
        return tokens
