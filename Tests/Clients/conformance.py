"""Drives every client library through the same promises, with the real daemon and with a false server."""
import os, threading, time, traceback

from driver import Driver
from promises_false import FALSE
from promises_real import REAL
from world import World


class Case:
    """A client library behind its driver, with a daemon of its own."""

    def __init__(self, name, words, environment, binaries, traits=()):
        self.name, self.traits = name, traits
        self.world = World(binaries)
        self.folder = self.world.folder
        try:
            self.world.start()
            self.driver = Driver(words, environment, os.path.join(self.folder, "driver.log"))
            self.driver.connect(self.world.socket).wait()
        except BaseException:
            self.world.close()
            raise

    def close(self):
        self.driver.close()
        self.world.close()


def run_one(name, words, environment, binaries, report, only, traits):
    try:
        case = Case(name, words, environment, binaries, traits)
    except BaseException:
        return report(f"{name}: it starts", traceback.format_exc())
    try:
        for promise in FALSE + REAL:
            title = f"{name}: {promise.__name__.replace('_', ' ')}"
            if only and only not in title:
                continue
            began = time.monotonic()
            try:
                promise(case)
                report(title, None, time.monotonic() - began)
            except BaseException:
                report(title, traceback.format_exc() + case.driver.errors(), time.monotonic() - began)
                # The rest is not judged by what this one has left behind.
                case.close()
                case = Case(name, words, environment, binaries, traits)
    finally:
        case.close()


def run(drivers, binaries, report, only=None):
    """Runs all promises of all drivers at the same time. `report` gets each title, and what went wrong."""
    threads = [threading.Thread(target=run_one, args=(name, words, environment, binaries, report, only, traits))
               for name, (words, environment, traits) in drivers.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
