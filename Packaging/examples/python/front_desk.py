#!/usr/bin/env python3
"""A front desk: shows who is signed in at an instance and follows what happens.

    SDKD_SOCKET=/run/sdkd/sdkd.sock ./front_desk.py front-desk [--delegate PROGRAM]

It needs the standard library only. It continues after restarts of the daemon and sees each event once. It never prints a token,
and looking changes nothing: no user is created at the vendor.
"""
import argparse
import asyncio
import json
import os
import pwd
import random
import socket
import struct
import sys

PASSING = {"shuttingDown", "rateLimit", "tooManyInFlight", "tooManySubscriptions", "storeUnavailable"}


class DaemonError(Exception):
    """An error that the daemon returned. `reason` is its stable name; the message says what to do."""

    def __init__(self, error):
        super().__init__(error["message"])
        data = error.get("data", {})
        self.code, self.reason = error["code"], data.get("reason", "")
        self.retry_after = data.get("retryAfter", 0)


class Denied(Exception):
    """The delegate denies this user for good."""


class Connection:
    """One connection: calls, events, and the daemon's questions."""

    @classmethod
    async def open(cls, path, answer=None):
        reader, writer = await asyncio.open_unix_connection(path, limit=4 << 20)
        # The process at the other end gets secrets. It must run as root, as us, as sdkd, or behind a tenant's socket.
        raw = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        uid = struct.unpack("3i", raw)[1]
        if uid not in (0, os.geteuid()) and uid != sdkd_uid() and not is_tenants(path):
            writer.close()
            raise PermissionError(f"{path} belongs to uid {uid}; nothing was sent.")
        return cls(reader, writer, answer)

    def __init__(self, reader, writer, answer):
        self.reader, self.writer, self.answer = reader, writer, answer
        self.waiting, self.questions, self.last_id = {}, {}, 0
        self.notifications = asyncio.Queue()
        self.pump = asyncio.create_task(self.read())

    async def call(self, method, timeout=30, **params):
        """Returns the result of a method. Raises DaemonError for an error, ConnectionError if there is no answer."""
        if self.pump.done():
            raise ConnectionError("the connection has ended")
        self.last_id = call = self.last_id + 1
        future = self.waiting[call] = asyncio.get_running_loop().create_future()
        self.send({"id": call, "method": method, "params": params})
        try:
            async with asyncio.timeout(timeout):
                return await future
        except TimeoutError:
            self.send({"method": "$/cancelRequest", "params": {"id": call}})
            raise
        finally:
            self.waiting.pop(call, None)

    def send(self, message):
        self.writer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def read(self):
        try:
            while line := await self.reader.readline():
                self.take(json.loads(line))
                if self.notifications.qsize() > 4096:
                    raise ValueError("events arrive faster than they are handled; reconnecting with the cursor")
        except (OSError, ValueError) as error:
            print(f"connection: {error}", file=sys.stderr)
        finally:
            for future in self.waiting.values():
                if not future.done():
                    future.set_exception(ConnectionError("the daemon closed the connection without an answer"))
            for question in self.questions.values():
                question.cancel()
            self.notifications.put_nowait(None)

    def take(self, message):
        if "method" not in message:
            future = self.waiting.get(message.get("id"))
            if future and not future.done():
                if "error" in message:
                    future.set_exception(DaemonError(message["error"]))
                else:
                    future.set_result(message["result"])
        elif "id" in message:
            self.questions[message["id"]] = asyncio.create_task(self.reply(message))
        elif message["method"] == "$/cancelRequest":
            if question := self.questions.get(message["params"]["id"]):
                question.cancel()
        else:
            self.notifications.put_nowait((message["method"], message["params"]))

    async def reply(self, message):
        try:
            result = await self.answer(message["params"]) if self.answer else {"defer": True}
            self.send({"id": message["id"], "result": result})
        except Denied:
            error = {"code": -32040, "message": "This user is denied.", "data": {"reason": "providerDenied"}}
            self.send({"id": message["id"], "error": error})
        except Exception as error:  # The next delegate, or the provider, may have an answer.
            print(f"delegate: {type(error).__name__}", file=sys.stderr)
            self.send({"id": message["id"], "result": {"defer": True}})
        finally:
            self.questions.pop(message["id"], None)

    def close(self):
        self.pump.cancel()
        self.writer.close()


def is_tenants(path):
    """Whether a socket is a tenant's and only root can have made it. Such a daemon has a dynamic user, so its uid says nothing."""
    folder = os.path.dirname(path)
    if folder != "/run/sdkd-tenants":
        return False
    status = os.lstat(folder)
    return status.st_uid == 0 and not status.st_mode & 0o022


def sdkd_uid():
    try:
        return pwd.getpwnam("sdkd").pw_uid
    except KeyError:
        return None


class FrontDesk:
    """A program that shows the user and follows the events of one instance."""

    def __init__(self, path, instance, delegate=None):
        self.path, self.instance, self.delegate = path, instance, delegate
        self.cursor = None  # Keep it in a file to see also what happens while this program is not running.

    async def run(self):
        """Follows until the program ends. Connects again after a loss, with growing pauses."""
        pause = 0.05
        while True:
            connection = None
            try:
                connection = await Connection.open(self.path, self.answer if self.delegate else None)
                if self.delegate:
                    await connection.call("delegate.attach", instances=[self.instance])
                since = {"since": self.cursor} if self.cursor else {}
                subscribed = await connection.call("events.subscribe", instances=[self.instance], **since)
                self.cursor = self.cursor or subscribed["cursor"]
                await self.show(connection)
                pause = 0.05
                await self.follow(connection)
            except DaemonError as error:
                if error.reason not in PASSING:
                    raise
                pause = max(pause, error.retry_after)
            except (OSError, TimeoutError) as error:
                print(f"waiting: {error}", file=sys.stderr)
            finally:
                if connection:
                    connection.close()
            await asyncio.sleep(pause * random.uniform(0.5, 1))
            pause = min(pause * 2, 2)

    async def show(self, connection):
        """Shows the user, and which headers carry the token. Both calls only read."""
        user = await connection.call("instance.currentUser", instance=self.instance)
        if not user["authenticated"]:
            return say("please sign in")
        try:
            token = await connection.call("token.get", instance=self.instance, minTTL="30s", http=True)
        except DaemonError as error:
            if error.code not in (-32010, -32030, -32040):  # The user is gone, or no token can be had now: a state to show.
                raise
            return say(f"no token: {error.reason}")
        say(f"user {user.get('externalId') or user.get('id')}, headers {sorted(token['http']['headers'])}")

    async def follow(self, connection):
        while notification := await connection.notifications.get():
            method, params = notification
            if method == "events.event":
                event = params["event"]
                say(f"event {event['type']} {event['instance']}")
                self.cursor = event["cursor"]  # After the event was handled, not before.
                if event["type"] in ("userLoggedIn", "userLoggedOut", "identityChanged"):
                    await self.show(connection)
            elif method == "events.gap":
                say("gap: events were missed, so the state is read again")
                self.cursor = params["resume"]
                await self.show(connection)
                await connection.call("events.resume", subscription=params["subscription"], since=self.cursor)
            elif method == "daemon.closing":
                say("daemon is closing")  # The connection ends next; run() connects again.

    async def answer(self, question):
        """Answers `delegate.getToken` and `delegate.invalidAuth` with the output of a program."""
        if question["question"] not in ("getToken", "invalidAuth"):
            return {"defer": True}
        user = (question.get("user") or {}).get("externalId", "")
        process = await asyncio.create_subprocess_exec(self.delegate, user, stdout=asyncio.subprocess.PIPE)
        try:
            output, _ = await process.communicate()
        except asyncio.CancelledError:
            process.kill()  # The answer is no longer needed.
            raise
        if process.returncode == 77:
            raise Denied
        token = output.decode().strip()
        return {"token": token} if process.returncode == 0 and token else {"defer": True}


def say(line):
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("instance")
    parser.add_argument("--delegate", metavar="PROGRAM", help="answers for tokens: PROGRAM EXTERNAL-ID prints one")
    options = parser.parse_args()
    path = os.environ.get("SDKD_SOCKET", "/run/sdkd/sdkd.sock")
    try:
        asyncio.run(FrontDesk(path, options.instance, options.delegate).run())
    except DaemonError as error:
        sys.exit(f"{error} ({error.reason})")
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
