"""Drives the client for asyncio: commands as lines on standard input, outcomes as lines on standard output."""
import asyncio, json, sys

from sdkd import Denied, Error, Options, OutcomeUnknown, aio

clients, streams, tasks, statuses = {}, {}, {}, {}


def say(**members):
    print(json.dumps(members), flush=True)


def failure(error):
    names = ("reason", "retryable", "retry_after", "instance", "may_have_run", "code")
    members = {name: getattr(error, name) for name in names}
    return {**members, "unknown": isinstance(error, OutcomeUnknown), "message": str(error)}


def status(found):
    return found and {"state": found.state, "error": found.error and found.error.reason}


def telling(stream):
    told = statuses[stream] = []

    def tell(status):
        told.append([status.is_connected, status.error and status.error.reason])
        raise ValueError("an error of the app")

    return tell


def answering(mode, answer):
    async def respond(question):
        say(question=question)
        if mode == "deny":
            raise Denied
        if mode == "fail":
            raise ValueError("this is a secret of the app")
        if mode == "hang":
            try:
                await asyncio.sleep(600)
            except asyncio.CancelledError:
                say(cancelled=True)
                raise
        return None if mode == "pass" else answer

    return respond


async def run(do, name, arguments):
    if do == "connect":
        clients[name] = await aio.connect(arguments["socket"], options=Options(**arguments["options"]))
    elif do == "call":
        return await clients[name].call(arguments["method"], arguments["params"], deadline=arguments["deadline"])
    elif do == "token":
        return await clients[name].token(arguments["instance"], min_ttl=30, http=True)
    elif do == "put":
        return await clients[name].storage.put(arguments["instance"], arguments["key"], arguments["value"])
    elif do == "events":
        stream = arguments["stream"]
        streams[stream] = clients[name].events(
            instances=arguments["instances"], since=arguments["since"], on_status=telling(stream))
    elif do == "statuses":
        return [*statuses[arguments["stream"]], [streams[arguments["stream"]].status.is_connected]]
    elif do == "take":
        return await streams[arguments["stream"]].take(arguments["deadline"])
    elif do == "attach":
        answer = answering(arguments["mode"], arguments["answer"])
        timeout = arguments["timeout"]
        streams[arguments["stream"]] = await clients[name].attach(arguments["instances"], answer, timeout=timeout)
    elif do == "status":
        return status(await streams[arguments["stream"]].next())
    elif do == "detach":
        await streams[arguments["stream"]].detach()
    elif do == "end":
        await streams[arguments["stream"]].close()
    elif do == "close":
        await clients[name].close()


async def command(number, do, client="main", **arguments):
    try:
        say(id=number, result=await run(do, client, arguments))
    except Error as error:
        say(id=number, error=failure(error))
    except asyncio.CancelledError:
        say(id=number, error={"reason": "cancelled by the caller"})


async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    say(can=["cancel", "log", "statuses"])
    while line := await reader.readline():
        message = json.loads(line)
        if message["do"] == "cancel":
            tasks[message["target"]].cancel()
        else:
            number = message.pop("id")
            tasks[number] = asyncio.create_task(command(number, **message))


asyncio.run(main())
