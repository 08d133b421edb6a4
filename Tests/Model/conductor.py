"""The course of a run: faults come and go, the daemon is ended and started, and at the end all must be as before."""
import re, signal, time

import kinds
from replies import leak
from world import Stopped
from wire import Line, Lost


class Conductor:
    def __init__(self, world, actors):
        self.world, self.actors = world, actors
        self.read, self.is_full, self.acts, self.seconds_of_end = 0, False, 0, []
        self.due = self.next_due()

    def next_due(self):
        self.acts += 1
        self.random = self.world.stream(f"conductor {self.acts}")
        # Some lives are long enough for crowds to gather.
        return sum(self.world.progress.values()) + self.random.randint(150, 500) * self.random.choice([1, 1, 1, 6])

    def watch(self):
        """Until the run is over, or all actors have taken their steps."""
        while not self.world.is_over and any(actor.is_alive() for actor in self.actors):
            self.look()
            if sum(self.world.progress.values()) >= self.due:
                self.act()
                self.due = self.next_due()
            time.sleep(0.05)

    def look(self):
        world, status = self.world, self.world.daemon.process.poll()
        if status is not None:
            self.fail(f"the daemon ended by itself with {status}: {self.tail()}")
        self.read_journal()
        world.count("no secret is in the journal")
        if world.outside.fault:
            self.fail(world.outside.fault)

    def fail(self, what):
        try:
            self.world.fail(what, "conductor")
        except Stopped:
            pass

    def act(self):
        ways = [self.kill] * 3 + [self.restart] * 2 + [self.replace] * 3 + [self.jump] * 3 + ([self.fill] * 2 if self.world.programs.disk.is_small else [])
        way = self.free if self.is_full and self.random.random() < 0.6 else self.random.choice(ways)
        self.world.record("conductor", f"→ 0 {way.__name__}")
        way()

    # Faults

    def fill(self):
        self.is_full = True
        self.world.programs.disk.fill()

    def free(self):
        self.is_full = False
        self.world.programs.disk.free()

    def jump(self):
        seconds = self.random.choice([0, 0, -1800, 30, 700, 7200])
        self.world.programs.clock.move(seconds)
        if self.random.random() < 0.7:
            self.world.sandbox.ask("POST", "/_clock", {"offsetSeconds": seconds})

    def kill(self):
        with self.world.daemon.configuring:
            self.world.daemon.end(signal.SIGKILL)
            self.start()

    def restart(self):
        with self.world.daemon.configuring:
            self.stop()
            self.start()

    def replace(self):
        """SIGUSR2, which no connection notices: `Line` fails when one is closed in the same life."""
        with self.world.daemon.configuring:
            # On a full disk the next daemon could not open its state, and would drop the connections.
            self.free()
            self.world.count("SIGUSR2 closes no connection")
            if not self.world.daemon.replace():
                self.fail(f"the daemon does not start in its place: {self.tail()}")

    def stop(self):
        world, began = self.world, time.monotonic()
        status = world.daemon.end(signal.SIGTERM)
        seconds = time.monotonic() - began
        self.seconds_of_end.append(seconds)
        world.count("SIGTERM ends the daemon within its grace")
        if status != 0:
            self.fail(f"SIGTERM: the daemon {'did not end' if status is None else f'ended with {status}'} in {seconds:.1f} s")

    def start(self):
        self.free()
        if not self.world.daemon.start():
            self.fail(f"the daemon does not start: {self.tail()}")

    # The journal

    def tail(self):
        with open(self.world.daemon.log, errors="replace") as log:
            return log.read()[-3000:]

    def read_journal(self):
        with open(self.world.daemon.log, errors="replace") as log:
            log.seek(self.read)
            text = log.read()
            self.read = log.tell()
        problem = leak(text) or next(
            (line for line in text.split("\n") if re.search("Fatal error|internalError|crashed at", line)), None)
        problem = problem or self.world.outside.repeated(self.world, text.split("\n"), "the journal")
        if problem:
            self.fail(f"in the journal: {problem}")

    # The end

    def finish(self, before):
        """Takes the faults away and checks that everything is given back. `before` was measured without instances."""
        world = self.world
        world.programs.clock.move(0)
        world.sandbox.ask("POST", "/_clock", {"offsetSeconds": 0})
        world.sandbox.ask("DELETE", "/_control")
        self.free()
        line = Line(world, "conductor")
        world.outside.fail_next(way="none")
        self.expect_no_overlap()
        self.expect_health(line)
        self.delete_all(line)
        line.close()
        self.expect_return(before)
        self.stop()
        self.look_back()

    def look_back(self):
        """What the journal and the places have seen until the end."""
        self.read_journal()
        if self.world.outside.fault:
            self.fail(self.world.outside.fault)
        self.world.checks.update(self.world.outside.counts)

    def expect_no_overlap(self):
        try:
            with open(self.world.programs.path("runs")) as runs:
                lines = runs.read().split("\n")
        except OSError:
            return
        self.world.checks["one renewal at a time"] += sum(line.startswith("start") for line in lines)
        overlaps = [line for line in lines if line.startswith("overlap")]
        if overlaps:
            self.world.fail(f"two provider runs at once: {overlaps[:3]}", "conductor")

    def expect_health(self, line):
        self.world.count("health is ok after the faults")
        end = time.monotonic() + 90
        while (health := line.call("daemon.health")[0])["status"] != "ok":
            # Users whose credential was refused for good are no fault of the daemon, nor is a vendor whose clock was wrong when
            # it answered last.
            if all(check["status"] == "ok" or check["name"] in ("instances", "vendorClocks") for check in health["checks"]):
                return
            if time.monotonic() > end:
                self.world.fail(f"health 90 s after the faults: {health}", "conductor")
            # What a file says and the full disk refused is put in force by a reload.
            line.call("daemon.reload")
            time.sleep(0.3)

    def delete_all(self, line):
        while (page := line.call("instance.list", {"limit": 200})[0])["instances"]:
            names = [one["instance"] for one in page["instances"] if one["source"] == "api"]
            if not names:
                return
            for name in names:
                _, error = line.call("instance.delete", {"instance": name})
                if error:
                    self.world.fail(f"instance.delete: {error}", "conductor")

    def expect_return(self, before):
        descriptors, memory = before
        daemon, end = self.world.daemon, time.monotonic() + 40
        self.world.count("descriptors and memory return")
        while daemon.descriptors > descriptors + 3 or daemon.resident > memory + 96:
            if time.monotonic() > end:
                self.world.fail(
                    f"{daemon.descriptors} descriptors and {daemon.resident:.0f} MiB are held; before it were {descriptors} "
                    f"and {memory:.0f} MiB", "conductor")
            time.sleep(0.2)
