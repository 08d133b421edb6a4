"""An actor: a thread with random numbers of its own that takes one step after the other."""
import os, threading, time, traceback

from wire import Line, Lost
from world import Stopped


class Actor(threading.Thread):
    # Seconds between two steps.
    pace = 0.01

    def __init__(self, world, name):
        super().__init__(name=name, daemon=True)
        self.world, self.random, self.lines = world, world.stream(name), []

    def connect(self, uid=None, strict=True, gid=None):
        line = Line(self.world, self.name, uid, strict, gid)
        self.lines.append(line)
        return line

    def open(self):
        """Connects; also after each life of the daemon."""

    def step(self):
        raise NotImplementedError

    def run(self):
        try:
            is_open = False
            while not self.world.is_over and self.world.progress[self.name] < self.world.steps:
                try:
                    if not is_open:
                        self.open()
                        is_open = True
                    # Each step has numbers of its own, whatever came of the steps before.
                    self.random = self.world.stream(f"{self.name} {self.world.progress[self.name]}")
                    self.world.progress[self.name] += 1
                    self.step()
                except Lost:
                    # The step counts: the next life goes on with the next one.
                    self.close()
                    is_open = False
                time.sleep(self.pace)
        except Stopped:
            pass
        except Exception:
            try:
                self.world.fail(f"the driver itself: {traceback.format_exc()}")
            except Stopped:
                pass
        finally:
            self.close()

    def close(self):
        while self.lines:
            self.lines.pop().close()

    def write(self, name, text):
        """Writes a file that the providers read."""
        path = self.world.programs.path(name)
        with open(f"{path}.{self.name.replace(' ', '-')}", "w") as file:
            file.write(text)
        os.replace(file.name, path)
