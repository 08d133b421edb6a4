# Appended to the Python snippets of app-guide.md: calls what they define. The argument is a file with a JWT; SANDBOX mints tokens.
import subprocess, sys, threading, time


def wait_for(what, condition):
    limit = time.monotonic() + 50
    while not condition():
        if time.monotonic() > limit:
            sys.exit(f"not in time: {what}")
        time.sleep(0.02)


# A refused request is sent once more, and for the same user only.
statuses = [401, 200]
assert fetch(daemon, lambda headers: statuses.pop(0)) == 200 and not statuses
# The second refusal comes within `refresh.min_interval` of the check that the first one has led to.
statuses += [401, 200]
assert fetch(daemon, lambda headers: statuses.pop(0)) == 200 and not statuses
jwt = open(sys.argv[1]).read().strip()
sent = []


def refuse(headers):
    sent.append(sorted(headers))
    sign_out(daemon)
    sign_in(daemon, jwt)
    return 401


try:
    fetch(daemon, refuse)
    sys.exit("sent again for another sign-in")
except RuntimeError:
    assert sent == [["Authorization"]], sent

# Events and questions, each on a connection of its own.
seen, asked = [], []


def mint(user):
    asked.append(user)
    return subprocess.check_output([os.environ["SANDBOX"], "mint", "--external-id", user], text=True).strip()


def update():
    daemon.call("instance.update", instance="front-desk", labels={"n": str(time.monotonic_ns())})
    return "instanceUpdated" in seen


threading.Thread(target=follow, args=(Daemon(), lambda event: seen.append(event["type"])), daemon=True).start()
wait_for("an event", update)
threading.Thread(target=answer, args=(Daemon(), mint), daemon=True).start()
wait_for("the delegate", lambda: "delegateAttached" in seen)
assert daemon.call("token.refresh", instance="front-desk")["fromCache"] is False
assert asked == ["alice"], asked
sign_out(daemon)
wait_for("the logout", lambda: "userLoggedOut" in seen)
assert not current_user(daemon)["authenticated"]
try:
    daemon.call("token.get", instance="front-desk")
    sys.exit("a token without a user")
except DaemonError as error:
    assert error.reason == "notAuthenticated"
print("all snippets were run")
