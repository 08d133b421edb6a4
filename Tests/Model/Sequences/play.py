"""Plays one sequence against a daemon of its own, and records what was called, answered, told and requested."""
import asyncio, os, shutil, signal, tempfile, time

import programs
from bridge import Bridge
from line import Line
from loopback import Loopback
from moves import Moves
from vendors import BACKENDS

# The longest time in which a call of a sequence is answered, and in which everything comes to rest.
ANSWERED, CALM = 25, 20


class Folder:
    """The folder of the state, and the clock of the machine, as `programs.Daemon` wants them."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="sdkd-orders-")
        self.path, self.environment = os.path.join(self.folder, "state"), {}
        os.mkdir(self.path, 0o700)


class Play:
    def __init__(self, letter, number, steps, binary):
        self.letter, self.number, self.steps = letter, number, steps
        self.began = time.monotonic()
        self.record = {"kind": letter, "time": time.time(), "calls": [], "events": [], "vendor": [], "questions": [],
                       "lives": [], "problems": [], "steps": steps}
        self.folder = Folder()
        self.daemon = programs.Daemon(self.folder.folder, binary, self.folder, self.folder)
        self.lines = [Line(number, self.record, self.now) for number in range(3)]

    def now(self):
        return round(time.monotonic() - self.began, 4)

    async def run(self):
        """Returns the record."""
        self.vendor = await Loopback(self.number, self.record["vendor"], self.now).start(BACKENDS[self.letter]())
        backend = self.vendor.backend
        backend.base = self.vendor.base("sf")
        self.bridge = Bridge(self.number, self.letter, self.record, self.now, self.lines[0], getattr(backend, "grant", None))
        self.moves = Moves(self)
        try:
            await self.start()
            await self.moves.create()
            for step in self.steps:
                await self.wait(step["pause"], self.lines[step["line"]])
                self.check_running()
                await self.moves.make(step)
            await self.finish()
        except Ended as ended:
            self.record["problems"].append(ended.args[0])
        finally:
            self.close()
        if self.vendor.mistake:
            raise self.vendor.mistake
        return self.record

    def close(self):
        for line in self.lines:
            line.close()
        if self.daemon.process and self.daemon.process.poll() is None:
            self.daemon.process.send_signal(signal.SIGKILL)
            self.daemon.process.wait()
        with open(self.daemon.log) as log:
            self.record["journal"] = log.read()[-4000:]
        self.vendor.close()
        shutil.rmtree(self.folder.folder, ignore_errors=True)

    # The daemon

    async def start(self):
        if not await asyncio.to_thread(self.daemon.start):
            raise Ended("the daemon does not start")
        self.record["lives"].append({"began": self.now(), "ended": None, "how": None, "status": None})
        for line in self.lines:
            await line.connect(self.daemon.socket)
        if len(self.record["lives"]) > 1:
            await self.moves.attach()

    async def end(self, number, how):
        """Ends the daemon; with SIGTERM it has its grace to answer."""
        life = self.record["lives"][-1] | {"ended": self.now(), "how": how}
        status = await asyncio.to_thread(self.daemon.end, number)
        self.record["lives"][-1] = life | {"status": status, "gone": self.now()}
        # What the daemon has written is read before the connections are closed.
        await asyncio.sleep(0.02)
        for line in self.lines:
            line.close()
        self.bridge.drop()
        await self.start()

    def check_running(self):
        if self.daemon.process.poll() is not None:
            raise Ended(f"the daemon ended by itself with {self.daemon.process.returncode}")

    # Waiting

    async def wait(self, pause, line):
        if pause == "answer":
            await line.rest(ANSWERED)
        elif pause == "rest":
            await self.calm()
        else:
            await asyncio.sleep(pause)

    async def calm(self):
        """Waits until nothing is in progress: calls, questions, requests, operations."""
        end = self.now() + CALM
        for line in self.lines:
            await line.rest(ANSWERED)
        quiet = 0
        while self.now() < end and quiet < 3:
            await asyncio.sleep(0.04)
            quiet = 0 if self.vendor.open or self.bridge.open or self.moves.operations() else quiet + 1

    async def finish(self):
        await self.calm()
        self.vendor.pace, self.vendor.faults, self.vendor.holds = "quick", {}, {}
        await self.calm()
        self.check_running()
        end = self.now() + 8
        # What the daemon tells the vendor again after a failure.
        while (await self.moves.instance()).get("pending") and self.now() < end:
            await asyncio.sleep(0.3)
        await self.calm()
        self.record["before"] = await self.moves.snapshot()
        await self.end(signal.SIGTERM, "restart")
        await asyncio.sleep(0.1)
        await self.calm()
        self.record["after"] = await self.moves.snapshot()
        self.record["token"] = await self.moves.tokens()
        # The grant of each token that the vendor has issued.
        self.record["grants"] = dict(getattr(self.vendor.backend, "of", {}))
        await self.calm()


class Ended(Exception):
    """The sequence can't go on."""


async def play(letter, number, steps, binary):
    return await Play(letter, number, steps, binary).run()
