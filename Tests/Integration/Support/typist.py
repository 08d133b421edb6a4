"""Types a line and a tab into a shell on a terminal, and waits for what the shell makes of it.

    typist.py KEYS SHELL [ARGUMENT...]

KEYS is a file of three lines: what is typed, what must then appear, and what the shell is told first.
"""
import os
import pty
import select
import signal
import sys
import time

typed, wanted, setup = open(sys.argv[1]).read().splitlines()
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "dumb" if sys.argv[2].endswith("bash") else "xterm"
    os.execv(sys.argv[2], sys.argv[2:])


def read_until(text, seconds):
    """What appeared until the text did; fails when it doesn't."""
    seen = ""
    end = time.monotonic() + seconds
    while text not in seen:
        left = end - time.monotonic()
        if left <= 0 or not select.select([terminal], [], [], left)[0]:
            sys.exit(f"{text!r} does not appear:\n{seen}")
        seen += os.read(terminal, 4096).decode(errors="replace")
    return seen


try:
    os.write(terminal, setup.encode() + b"; printf 'REA''DY\\n'\n")
    read_until("READY\r\n", 20)
    os.write(terminal, typed.encode() + b"\t")
    read_until(wanted, 20)
finally:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
