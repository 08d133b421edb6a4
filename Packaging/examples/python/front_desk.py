#!/usr/bin/python3
"""A front desk: shows who is signed in at an instance and follows what happens.

    ./front_desk.py front-desk [--delegate PROGRAM]

It sees each event once, also over restarts of the daemon. It never prints a token, and looking creates no user at the vendor.
"""
import argparse, subprocess, sys
from typing import Optional

import sdkd
from sdkd.types import Answer, DelegateQuestion

NO_TOKEN = (-32010, -32030, -32040)  # The user is gone, or no token can be had now: a state to show.


def show(daemon: sdkd.Client, instance: str) -> None:
    user = daemon.instance.current_user(instance)
    if not user["authenticated"]:
        return print("please sign in", flush=True)
    try:
        headers = sorted(daemon.token(instance, min_ttl=30, http=True)["http"]["headers"])
        print(f"user {user.get('externalId', user.get('id'))}, headers {headers}", flush=True)
    except sdkd.Error as error:
        if error.code not in NO_TOKEN:
            raise
        print(f"no token: {error.reason}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="A front desk.")
    parser.add_argument("instance")
    parser.add_argument("--delegate", metavar="PROGRAM", help="answers for tokens: PROGRAM EXTERNAL-ID prints one")
    options = parser.parse_args()

    def answer(question: DelegateQuestion) -> Optional[Answer]:
        user = question["user"]
        if question["question"] not in ("getToken", "invalidAuth") or user is None:
            return None
        done = subprocess.run([options.delegate, user.get("externalId", "")], stdout=subprocess.PIPE, text=True)
        if done.returncode == 77:
            raise sdkd.Denied
        return {"token": done.stdout.strip()} if done.returncode == 0 else None

    with sdkd.connect() as daemon, daemon.events(instances=[options.instance]) as events:
        if options.delegate:
            daemon.attach([options.instance], answer)
        events.start()
        show(daemon, options.instance)
        for event in events:  # Keep event["cursor"] to see also what happens while the app does not run.
            print(f"event {event['type']} {'' if event['type'] == 'gap' else event['instance']}", flush=True)
            if event["type"] in ("gap", "userLoggedIn", "userLoggedOut", "identityChanged"):
                show(daemon, options.instance)


try:
    main()
except sdkd.Error as error:
    sys.exit(f"{error} ({error.reason})")
