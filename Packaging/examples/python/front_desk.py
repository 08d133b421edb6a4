#!/usr/bin/python3
"""A front desk: shows who is signed in at an instance, follows what happens, and signs people in and out.

    ./front_desk.py front-desk [--tokens PROGRAM]

PROGRAM stands for your backend: PROGRAM NAME prints the JWT of a person. With it, the lines `in NAME` and `out` on standard input
sign in and out, and the daemon gets new tokens here. The desk shows each event once, also over restarts of the daemon, and
says when the daemon is away. It never prints a token, and looking creates no user at the vendor.
"""
import argparse, subprocess, sys, threading, time
from typing import Optional

import sdkd
from sdkd.types import Answer, DelegateQuestion

NO_TOKEN = (-32010, -32030, -32040)  # The user is gone, or no token can be had now: a state to show.


class Desk:
    def __init__(self, daemon: sdkd.Client, instance: str, tokens: Optional[str]) -> None:
        self.daemon, self.instance, self.tokens = daemon, instance, tokens
        self.line, self.is_away, self.is_attached = "", False, False
        self.cursor: Optional[str] = None  # Keep it in a file to see also what happens while the desk does not run.

    def show(self, line: str) -> None:
        if line != self.line:
            self.line = line
            print(line, flush=True)

    def read(self) -> None:
        """Shows the user and which headers carry the token. Both calls only read."""
        found = self.daemon.instance(self.instance)
        user = found["user"]
        name = user.get("externalId", user.get("id"))
        if not user["authenticated"]:
            return self.show(f"please sign in again, {name}" if found["state"] == "reauthNeeded" else "please sign in")
        try:
            headers = sorted(self.daemon.token(self.instance, http=True)["http"]["headers"])
            self.show(f"user {name}, headers {headers}")
        except sdkd.Error as error:
            if error.code not in NO_TOKEN:
                raise
            self.show(f"no token: {error.reason}")

    def connection(self, error: Optional[sdkd.Error]) -> None:
        """Says that the daemon is away. When it is back, says again what held before: events tell what is new."""
        if error and not self.is_away:
            print(f"offline: {error.sentence()}", flush=True)
        elif self.is_away and not error and self.line:
            print(self.line, flush=True)
        self.is_away = error is not None

    def follow(self) -> None:
        if self.tokens and not self.is_attached:
            self.daemon.attach([self.instance], self.answer)  # From now on attached again after each restart.
            self.is_attached = True
        with self.daemon.events(
            instances=[self.instance], since=self.cursor, on_status=lambda status: self.connection(status.error)
        ) as events:
            events.start()
            self.read()
            for event in events:
                self.cursor = event["cursor"]
                print(f"event {event['type']} {'' if event['type'] == 'gap' else event['instance']}", flush=True)
                self.read()  # After every event: a user can expire, be locked or be replaced, too.

    def token(self, name: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([self.tokens or "false", name], stdout=subprocess.PIPE, text=True)

    def answer(self, question: DelegateQuestion) -> Optional[Answer]:
        user = question["user"]
        if question["question"] not in ("getToken", "invalidAuth") or user is None:
            return None
        done = self.token(user.get("externalId", ""))
        if done.returncode == 77:
            raise sdkd.Denied
        return {"token": done.stdout.strip()} if done.returncode == 0 else None

    def sign_out(self) -> None:
        try:
            self.daemon.messaging.logout_user(self.instance)
        except sdkd.Error as error:
            if error.reason != "network":
                raise
            self.daemon.messaging.logout_user(self.instance, local_only=True)  # The next person needs the desk.

    def commands(self) -> None:
        for line in open(0, closefd=False):  # Python can't end while another thread waits for `sys.stdin`.
            word, _, name = line.strip().partition(" ")
            try:
                if word == "in":
                    self.daemon.messaging.login_user(self.instance, self.token(name).stdout.strip())
                elif word == "out":
                    self.sign_out()
            except sdkd.Error as error:
                print(f"{word} failed: {error.sentence()} ({error.reason})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="A front desk.")
    parser.add_argument("instance")
    parser.add_argument("--tokens", metavar="PROGRAM", help="PROGRAM NAME prints a person's JWT; status 77 denies it")
    options = parser.parse_args()
    with sdkd.Client() as daemon:
        desk = Desk(daemon, options.instance, options.tokens)
        threading.Thread(target=desk.commands, daemon=True).start()
        while True:
            try:
                desk.follow()
            except sdkd.Error as error:
                if not error.retryable:
                    sys.exit(f"{error} ({error.reason})")
                desk.connection(error)
                time.sleep(error.retry_after or 1)


main()
