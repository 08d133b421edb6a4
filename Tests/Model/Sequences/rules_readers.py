"""Rules 1 and 6: what a reader gets."""
from history import SESSION, people_in

READERS = SESSION | {"token.get", "token.refresh", "instance.currentUser", "push.list"}


def other_people(history):
    """1: a reader gets no token, header, user or push record of another person."""
    for call in history.calls:
        result = call["result"]
        if result is None:
            continue
        if call["method"] in READERS:
            if call["method"] == "push.list":
                result = [push.get("user") for push in result.get("pushes", []) if not push.get("orphaned")]
            for user in people_in(result):
                if not history.may_be(user, call):
                    yield f"call {call['n']} ({call['method']} on connection {call['line']}) returns data of {user}"
        elif call.get("user") and call.get("credential") != "bridge" and people_in(result) - {call["user"]}:
            yield f"call {call['n']} ({call['method']} of {call['user']}) answers with {people_in(result)}"


class Epochs:
    """The storage epochs in their order, and between which of them a call looked."""

    def __init__(self, history):
        self.history = history
        self.names = [history.record.get("created", {}).get("storageEpoch")]
        self.wiped, self.signed_in = [], {}
        for event in history.events:
            if event["type"] == "identityWiped":
                self.names.append(event["data"]["storageEpoch"])
                self.wiped.append((history.heard[event["cursor"]], len(self.names) - 1))
            if event["type"] == "userLoggedIn" and event.get("operation"):
                self.signed_in[event["operation"]] = len(self.names) - 1
        self.seen = [(call, self.number(call)) for call in history.record["calls"] if self.number(call) is not None]

    def number(self, call):
        epoch = (call["result"] or {}).get("storageEpoch")
        return self.names.index(epoch) if epoch in self.names else None

    def first(self, call):
        """The earliest epoch that a call may have met."""
        found = [0] + [number for at, number in self.wiped if at < call["sent"]]
        found += [number for other, number in self.seen if other["answered"] < call["sent"]]
        # What a connection asks after an accepted authorize concerns the new user.
        found += [self.signed_in.get(other["result"]["operation"], 0) for other in self.history.calls
                  if other["line"] == call["line"] and other["n"] < call["n"] and (other["result"] or {}).get("operation")]
        return max(found)

    def last(self, call):
        """The latest epoch that a call may have met."""
        if call["answered"] is None:
            return len(self.names)
        return min([len(self.names)] + [number for other, number in self.seen if other["sent"] > call["answered"]])


def stored_values(history):
    """6: a stored value exists until it is wiped, and not longer."""
    epochs = Epochs(history)
    for call, epoch in epochs.seen:
        if epoch < epochs.first(call):
            yield f"call {call['n']} ({call['method']}) reads the storage of a former user"
    yield from outlived(history, epochs)
    yield from lost(history, epochs)


def outlived(history, epochs):
    """Values and prefilled texts that were read in another epoch than that in which they were written."""
    written = {call["params"]["value"]: call for call in history.calls if call["method"] == "storage.put"}
    written |= {call["params"]["message"]: call for call in history.calls if call["method"] == "chatCenter.prefill"}
    for call, epoch in epochs.seen:
        for value in (call["result"].get("value"), call["result"].get("prefill")):
            put = written.get(value)
            if put and not epochs.first(put) <= epoch <= epochs.last(put):
                yield f"call {call['n']} ({call['method']}) returns {value}, which call {put['n']} stored for another user"
            if put and put["error"] and put["error"]["data"]["reason"] in ("epochChanged", "superseded", "userNotAuthorized"):
                yield f"call {call['n']} returns {value}, though call {put['n']} was refused"


def lost(history, epochs):
    """Acknowledged values that are missing in their own epoch."""
    changes = [call for call in history.calls if call["method"] in ("storage.put", "storage.delete")]
    for get, epoch in epochs.seen:
        if get["method"] != "storage.get":
            continue
        of_key = [call for call in changes if call["params"]["key"] == get["params"]["key"] and call["sent"] < get["answered"]]
        for put in of_key:
            if put["method"] != "storage.put" or put["result"] is None:
                continue
            if not history.precedes(put, get) or epochs.first(put) != epoch:
                continue
            later = [call for call in of_key if call is not put and not history.precedes(call, put)]
            if get["result"]["value"] != put["params"]["value"] and not later:
                yield f"call {get['n']} misses {put['params']['value']}, which call {put['n']} stored"
