#!/usr/bin/env python3
"""A front desk: shows who is signed in at an instance and follows what happens.

    SDKD_SOCKET=/run/sdkd/sdkd.sock ./front_desk.py front-desk [--delegate PROGRAM]

The standard library only. It reads on over restarts of the daemon and sees each event once. Tokens are never printed.
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
    """The daemon refused; `reason` is the stable name, the message says what to do."""

    def __init__(self, error):
        super().__init__(error["message"])
        data = error.get("data", {})
        self.code, self.reason = error["code"], data.get("reason", "")
        self.retry_after = data.get("retryAfter", 0)


class Denied(Exception):
    """A delegate says no for good."""


class Connection:
    """One connection: calls, events, and questions that the daemon asks."""

    @classmethod
    async def open(cls, path, answer=None):
        reader, writer = await asyncio.open_unix_connection(path, limit=4 << 20)
        # Whoever listens gets secrets: it must be root, ourselves, the user sdkd, or whom root gave a tenant's socket.
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
        """The result of a method; DaemonError when it is refused, ConnectionError when there is no answer."""
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
                    raise ValueError("nobody takes the events; come back with the cursor")
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
            error = {"code": -32040, "message": "The owner says no.", "data": {"reason": "providerDenied"}}
            self.send({"id": message["id"], "error": error})
        except Exception as error:  # Whoever is next may know; what went wrong here stays here.
            print(f"delegate: {type(error).__name__}", file=sys.stderr)
            self.send({"id": message["id"], "result": {"defer": True}})
        finally:
            self.questions.pop(message["id"], None)

    def close(self):
        self.pump.cancel()
        self.writer.close()


def is_tenants(path):
    """Whether a socket is a tenant's, and only root can have put it there: such a daemon has a user of the moment."""
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
    """What an app does with it."""

    def __init__(self, path, instance, delegate=None):
        self.path, self.instance, self.delegate = path, instance, delegate
        self.cursor = None  # Keep it in a file to see also what happens while the app does not run.

    async def run(self):
        """Follows for ever; a connection that was lost is made again, later and later."""
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
        """The user, and how a request to the vendor looks. Opening a session is a read: it may be repeated."""
        try:
            session = await connection.call("session.open", instance=self.instance, minTTL="30s")
        except DaemonError as error:
            if error.code != -32010:  # Nobody is signed in, or has to sign in again: a state to show.
                raise
            return say(f"no session: {error.reason}")
        if not session["visible"]:
            return say(f"no session: {session.get('reason', '')}")
        user = session["user"].get("externalId") or session["user"].get("id") or "a guest"
        headers = session.get("token", {}).get("http", {}).get("headers", {})
        say(f"user {user}, endpoint {session['endpoint'].get('baseUrl', '-')}, headers {sorted(headers)}")

    async def follow(self, connection):
        while notification := await connection.notifications.get():
            method, params = notification
            if method == "events.event":
                event = params["event"]
                say(f"event {event['type']} {event['instance']}")
                self.cursor = event["cursor"]  # After it was dealt with, not before.
                if event["type"] in ("userLoggedIn", "userLoggedOut", "identityChanged"):
                    await self.show(connection)
            elif method == "events.gap":
                say("gap: events were missed, so the state is read again")
                self.cursor = params["resume"]
                await self.show(connection)
                await connection.call("events.resume", subscription=params["subscription"], since=self.cursor)
            elif method == "daemon.closing":
                say("daemon is closing")  # Its end follows, and then the way back.

    async def answer(self, question):
        """Asks a program of ours for a token, as `delegate.getToken` and `delegate.invalidAuth` want."""
        if question["question"] not in ("getToken", "invalidAuth"):
            return {"defer": True}
        user = (question.get("user") or {}).get("externalId", "")
        process = await asyncio.create_subprocess_exec(self.delegate, user, stdout=asyncio.subprocess.PIPE)
        try:
            output, _ = await process.communicate()
        except asyncio.CancelledError:
            process.kill()  # The answer is needed no more.
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
