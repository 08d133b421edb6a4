#!/usr/bin/python3
"""A front desk: shows who is signed in at an instance and follows what happens.

    ./front_desk.py front-desk [--delegate PROGRAM]

It goes on over restarts of the daemon and sees each event once. Tokens are never printed.
"""
import argparse, subprocess, sys
from typing import Optional

import sdkd
from sdkd.types import Answer, DelegateQuestion

NO_USER = -32010  # Nobody is signed in, or has to sign in again: a state to show.


def show(daemon: sdkd.Client, instance: str) -> None:
    try:
        session = daemon.session.open(instance, min_ttl=30)
    except sdkd.Error as error:
        if error.code != NO_USER:
            raise
        return print(f"no session: {error.reason}", flush=True)
    if not session["visible"]:
        return print(f"no session: {session.get('reason')}", flush=True)
    user = session["user"].get("externalId") or session["user"].get("id") or "a guest"
    headers = sorted(session["token"]["http"]["headers"]) if "token" in session else []
    print(f"user {user}, endpoint {session['endpoint'].get('baseUrl', '-')}, headers {headers}", flush=True)


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
