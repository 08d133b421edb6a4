"""Rules 2, 10, 11 and 12: how calls are answered, and what they wait for."""
import programs

# Changes that no vendor has to hear of before they are answered.
LOCAL = {
    "storage.put", "storage.delete", "instance.update", "chatCenter.deauthorizeUser", "chatCenter.updateData",
    "chatCenter.prefill"}
PUSH = {"push.register", "serviceChat.registerForPushNotifications"}
# Seconds. A shorter wait may be the machine's.
SHORTEST_WAIT, LATEST_READ = 0.6, 0.5


def reason(call):
    return (call["error"] or {}).get("data", {}).get("reason")


def answered(history):
    """2: each call is answered, none with an internal error, and the daemon ends in time."""
    yield from history.record["problems"]
    for call in history.record["calls"]:
        if reason(call) == "internalError":
            yield f"call {call['n']} ({call['method']}) has an internal error: {call['error']['data'].get('reference')}"
        life = [life for life in history.lives if life["began"] <= call["sent"] or life is history.lives[0]][-1]
        # What was written a moment before the daemon ended may never have been read.
        was_read = life["how"] is None or (life["how"] == "restart" and call["sent"] < life["ended"] - LATEST_READ)
        if call["answered"] is None and was_read:
            yield f"call {call['n']} ({call['method']}) has no answer"
    for life in history.lives:
        if life["how"] == "restart" and (life["status"] != 0 or life["gone"] - life["ended"] > programs.GRACE + 5):
            yield f"SIGTERM ended the daemon with {life['status']} after {life['gone'] - life['ended']:.1f} s"


def waits(history):
    """10: a change waits neither for a question to the bridge nor for a push registration."""
    causes = [(one["opened"], one["closed"], f"the question {one['question']}") for one in history.questions]
    causes += [(call["sent"], call["answered"], f"the registration of call {call['n']}")
               for call in history.calls if call["method"] in PUSH]
    for call in history.calls:
        if not is_local(history, call) or call["answered"] is None or call["error"]:
            continue
        seconds = call["answered"] - call["sent"]
        if seconds < SHORTEST_WAIT or any(overlaps(history, change, call) for change in history.changes):
            continue
        for opened, closed, what in causes:
            # It began before the change, lasted a good while longer, and the answer came when it ended.
            if closed and opened < call["sent"] + 0.1 and call["sent"] + 0.5 < closed < call["answered"] + 0.1:
                yield f"call {call['n']} ({call['method']}) waited {seconds:.1f} s for {what}"
                break


def is_local(history, call):
    is_nil = history.kind == "f" and "user" in call and call["user"] is None
    return call["method"] in LOCAL or is_nil


def overlaps(history, change, call):
    """Whether a change of the identity for which the vendor is asked was in progress while a call waited."""
    own = change["call"]
    if not own or own is call or is_local(history, own):
        return False
    return change["sent"] < call["answered"] and (change["ended"] is None or change["ended"] > call["sent"])


def shared(history):
    """11: the same identity twice at once shares the outcome, and asks one question at a time."""
    for first in history.changes:
        for second in history.changes:
            if is_same(first, second) and not has_rival(history, first, second):
                for change in (first, second):
                    if is_superseded(history, change):
                        calls = f"{first['call']['n']} and {second['call']['n']}"
                        yield f"call {change['call']['n']} is superseded, and calls {calls} have the same identity"
    for one in history.questions:
        for other in history.questions:
            if one is not other and one["service"] == other["service"] and is_open(one, other["opened"]):
                yield (f"{other['question']} was asked at {other['opened']:.2f} s, "
                       f"and {one['question']} was open since {one['opened']:.2f} s")


def is_same(first, second):
    """Whether two calls with the same credential overlapped, the first one sent before the second."""
    one, other = first["call"], second["call"]
    if not one or not other or one["n"] >= other["n"] or not first["user"]:
        return False
    ended = first["ended"] if first["ended"] is not None else float("inf")
    return first["credential"] == second["credential"] and first["service"] == second["service"] and second["sent"] < ended


def has_rival(history, first, second):
    """Whether another identity may have superseded one of two calls."""
    until = max(first["ended"] or 0, second["ended"] or 0)
    return any(
        other["call"] and other["credential"] != first["credential"] and other["service"] == first["service"]
        and other["sent"] < until and (other["ended"] is None or other["ended"] > first["sent"])
        for other in history.changes)


def is_superseded(history, change):
    if reason(change["call"]) == "superseded":
        return True
    operation = (change["call"]["result"] or {}).get("operation")
    return bool(operation) and any(event["type"] == "loginSuperseded" for event in history.outcomes(operation, True))


def is_open(question, at):
    """Whether a question was open then. One that is withdrawn in the same moment is not."""
    return question["opened"] <= at and (question["closed"] is None or question["closed"] > at + 0.1)


def unchanged(history):
    """12: the same identity again is answered with `changed: false`, also after a lock, and the first with `changed: true`."""
    for change in history.changes:
        call = change["call"]
        if not call or not change["success"] or "changed" not in call["result"]:
            continue
        earlier = [other for other in history.changes if other is not change and other["success"] is not False
                   and other["sent"] < change["ended"]]
        is_there = any(other["ended"] < call["sent"] for other in earlier if other["success"])
        is_same = all(other["credential"] == change["credential"] for other in earlier)
        if is_there and is_same and call["result"]["changed"]:
            yield f"call {call['n']} sets the present identity again, and the answer says that it changed"
        if not earlier and not call["result"]["changed"]:
            yield f"call {call['n']} sets the first identity, and the answer says that nothing changed"
