"""Drives the client for threads: commands as lines on standard input, outcomes as lines on standard output."""
import json, sys, threading, time

import sdkd

clients, streams, statuses, lock = {}, {}, {}, threading.Lock()


def say(**members):
    with lock:
        print(json.dumps(members), flush=True)


def failure(error):
    names = ("reason", "retryable", "retry_after", "instance", "may_have_run", "code")
    members = {name: getattr(error, name) for name in names}
    return {**members, "unknown": isinstance(error, sdkd.OutcomeUnknown), "message": str(error)}


def status(found):
    return found and {"state": found.state, "error": found.error and found.error.reason}


def telling(stream):
    told = statuses[stream] = []

    def tell(status):
        told.append([status.is_connected, status.error and status.error.reason])
        raise ValueError("an error of the app")

    return tell


def answering(mode, answer):
    def respond(question):
        say(question=question)
        if mode == "deny":
            raise sdkd.Denied
        if mode == "fail":
            raise ValueError("this is a secret of the app")
        if mode == "hang":
            time.sleep(600)
        return None if mode == "pass" else answer

    return respond


def run(do, name, arguments):
    if do == "connect":
        clients[name] = sdkd.connect(arguments["socket"], options=sdkd.Options(**arguments["options"]))
    elif do == "call":
        return clients[name].call(arguments["method"], arguments["params"], deadline=arguments["deadline"])
    elif do == "token":
        return clients[name].token(arguments["instance"], min_ttl=30, http=True)
    elif do == "put":
        return clients[name].storage.put(arguments["instance"], arguments["key"], arguments["value"])
    elif do == "events":
        stream = arguments["stream"]
        streams[stream] = clients[name].events(
            instances=arguments["instances"], since=arguments["since"], on_status=telling(stream))
    elif do == "statuses":
        return [*statuses[arguments["stream"]], [streams[arguments["stream"]].status.is_connected]]
    elif do == "take":
        return streams[arguments["stream"]].take(arguments["deadline"])
    elif do == "attach":
        answer = answering(arguments["mode"], arguments["answer"])
        streams[arguments["stream"]] = clients[name].attach(arguments["instances"], answer, timeout=arguments["timeout"])
    elif do == "status":
        return status(next(streams[arguments["stream"]], None))
    elif do == "detach":
        streams[arguments["stream"]].detach()
    elif do == "end":
        streams[arguments["stream"]].close()
    elif do == "close":
        clients[name].close()


def command(number, do, client="main", **arguments):
    try:
        say(id=number, result=run(do, client, arguments))
    except sdkd.Error as error:
        say(id=number, error=failure(error))


say(can=["log", "statuses"])
for line in sys.stdin:
    message = json.loads(line)
    number = message.pop("id")
    threading.Thread(target=command, args=(number,), kwargs=message, daemon=True).start()
