"""What the clients promise with the real daemon, through restarts and crashes."""
import signal, threading

from world import eventually


def create(case, name, **more):
    """An instance with a user who is signed in, by means of no client."""
    case.world.call("instance.create", instance=name, kind="zendesk.messaging", settings=case.world.settings(), **more)
    case.world.call("messaging.loginUser", instance=name, jwt=case.world.mint("alice"))


def update(case, name, floor):
    case.world.call("instance.update", instance=name, labels={"floor": str(floor)})


def restart(case, number):
    case.world.end(number)
    case.world.start()


def calls_give_results_and_errors(case):
    create(case, "calls")
    token = case.driver.do("token", instance="calls")
    assert token["tokenId"] and list(token["http"]["headers"]) == ["Authorization"], token
    value = {"text": "Grüße, 世界 \U0001f600", "list": [1, 2.5, None, True], "nul": "\0"}
    assert case.driver.do("put", instance="calls", key="draft", value=value) is None
    assert case.driver.call("storage.get", instance="calls", key="draft").wait()["value"] == value
    error = case.driver.call("token.get", instance="no-such").fails()
    assert error["reason"] == "instanceNotFound" and error["instance"] == "no-such" and error["code"] == -32002, error
    assert not error["retryable"] and not error["may_have_run"] and not error["unknown"], error
    assert case.driver.call("no.such").fails()["reason"] == "methodNotFound"
    many = [case.driver.call("storage.get", instance="calls", key="draft") for _ in range(200)]
    assert all(one.wait()["value"] == value for one in many)


def reads_survive_restarts(case):
    create(case, "reads")
    stopping, failures, counts = threading.Event(), [], []

    def ask():
        while not stopping.is_set():
            try:
                case.driver.call("token.get", instance="reads").wait()
                counts.append(1)
            except BaseException as error:
                failures.append(error)
                return

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
        before = len(counts)
        eventually("calls are answered", lambda: failures or len(counts) > before + 20)
        restart(case, number)
    before = len(counts)
    eventually("calls are answered", lambda: failures or len(counts) > before + 20)
    stopping.set()
    for thread in threads:
        thread.join()
    assert not failures, failures


def writes_survive_restarts_or_are_unknown(case):
    create(case, "writes")
    stopping, outcomes = threading.Event(), []

    def put():
        number = 0
        while not stopping.is_set():
            number += 1
            call = case.driver.call("storage.put", instance="writes", key="n", value=number)
            try:
                call.wait()
                outcomes.append((number, "kept"))
            except Exception as failure:
                outcomes.append((number, failure.error))

    thread = threading.Thread(target=put)
    thread.start()
    for number in (signal.SIGKILL, signal.SIGTERM):
        before = len(outcomes)
        eventually("writes are answered", lambda: len(outcomes) > before + 10)
        restart(case, number)
    before = len(outcomes)
    eventually("writes are answered", lambda: len(outcomes) > before + 10)
    stopping.set()
    thread.join()
    others = [outcome for _, outcome in outcomes if outcome != "kept"]
    assert all(outcome["unknown"] for outcome in others), others
    # Each end may leave one unknown; a stop only one that it had not received.
    assert len(others) <= 2, others
    kept = max(number for number, outcome in outcomes if outcome == "kept")
    assert case.driver.call("storage.get", instance="writes", key="n").wait()["value"] == kept


def a_daemon_that_hangs_ends_calls_at_their_deadline(case):
    create(case, "hanging")
    case.driver.call("daemon.info").wait()
    case.world.stop()
    try:
        assert case.driver.call("token.get", instance="hanging", deadline=0.3).fails()["reason"] == "timeout"
        error = case.driver.call("storage.put", instance="hanging", key="k", value=1, deadline=0.3).fails()
        assert error["unknown"], error
        read = case.driver.call("token.get", instance="hanging")
    finally:
        case.world.process.send_signal(signal.SIGCONT)
    assert read.wait()["tokenId"]


def events_come_once_and_in_order(case):
    create(case, "events")
    case.driver.events("all", instances=["events"])
    first = case.driver.take("all")
    # The subscription begins at a moment that is not known; the first update that it shows proves that it has begun.
    floor = 0
    while not first.is_done:
        update(case, "events", floor)
        floor += 1
    cursors = [first.wait()["cursor"]]
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
        for _ in range(3):
            update(case, "events", floor)
            floor += 1
        restart(case, number)
    for _ in range(3):
        update(case, "events", floor)
        floor += 1
    # What the daemon keeps after the first is what must come.
    kept = case.world.call("events.list", instances=["events"], since=cursors[0])["events"]
    cursors = [case.driver.take("all").wait()["cursor"] for _ in kept]
    assert cursors == [event["cursor"] for event in kept]
    assert case.driver.take("all", deadline=0.2).wait() is None
    # A new subscription with a cursor goes on there.
    case.driver.events("later", instances=["events"], since=cursors[2])
    assert case.driver.take("later").wait()["cursor"] == cursors[3]
    case.driver.do("end", stream="all")
    case.driver.do("end", stream="later")


def the_status_of_the_connection_is_told(case):
    """Each change once, however many attempts fail. A function of the app that fails stops nothing."""
    if "statuses" not in case.driver.can:
        return
    create(case, "told")
    case.driver.events("told", instances=["told"])

    def told():
        return case.driver.do("statuses", stream="told")

    assert told() == [[False]], told()
    taken = case.driver.take("told")
    eventually("it is connected", lambda: told() == [[True, None], [True]])
    for number in (signal.SIGKILL, signal.SIGTERM):
        before = told()[:-1]
        case.world.end(number)
        # The second failure of an attempt is not told.
        eventually("the loss is told", lambda: len(told()) == len(before) + 2)
        (*_, (is_connected, reason)), (now,) = told()[:-1], told()[-1]
        assert not is_connected and not now and reason in ("connectionClosed", "shuttingDown", "noDaemon"), told()
        case.world.start()
        eventually("it is connected again", lambda: told() == [*before, [False, reason], [True, None], [True]])
    floor = 0
    while not taken.is_done:
        update(case, "told", floor)
        floor += 1
    assert taken.wait()["instance"] == "told"
    case.driver.do("end", stream="told")
    assert len(told()) == 6, "the end is no loss"


def a_slow_reader_misses_nothing(case):
    names = [f"slow{number}" for number in range(30)]
    for name in names:
        case.world.call("instance.create", instance=name, kind="zendesk.messaging", settings=case.world.settings())
    case.driver.events("slow", instances=names)
    first = case.driver.take("slow")
    floor = 0
    while not first.is_done:
        update(case, "slow0", floor)
        floor += 1
    # More than the daemon queues for a connection, and than a client queues.
    with case.world.line() as line:
        for number in range(3000):
            line.send("instance.update", instance=names[number % 30], labels={"number": str(number)})
            if number % 60 == 59:
                line.answers(60)
    expected, since = [], first.wait()["cursor"]
    while since:
        page = case.world.call("events.list", instances=names, since=since)
        expected += [event["cursor"] for event in page["events"]]
        since = page.get("next")
    assert len(expected) >= 3000
    found = []
    while len(found) < len(expected):
        item = case.driver.take("slow", deadline=30).wait()
        assert item is not None, f"{len(found)} of {len(expected)} events came"
        if item["type"] != "gap":
            found.append(item["cursor"])
    assert found == expected
    case.driver.do("end", stream="slow")


def a_cursor_of_another_state_gives_a_gap(case):
    create(case, "gap")
    case.driver.events("gap", instances=["gap"], since="x" * 32)
    item = case.driver.take("gap").wait()
    assert item["type"] == "gap" and item["cursor"], item
    following = case.driver.take("gap")
    while not following.is_done:
        update(case, "gap", 1)
    assert following.wait()["instance"] == "gap"
    case.driver.do("end", stream="gap")


def a_delegate_answers_through_restarts(case):
    create(case, "delegate")
    case.driver.attach("d", ["delegate"], token=case.world.mint("alice")).wait()
    for number in (signal.SIGKILL, signal.SIGTERM, None):
        eventually("it is attached", lambda: case.world.call("instance.get", instance="delegate")["bridge"]["attached"])
        assert case.driver.call("token.refresh", instance="delegate").wait()["fromCache"] is False
        question = case.driver.questions.get(timeout=60)["question"]
        assert question["instance"] == "delegate" and question["user"]["externalId"] == "alice", question
        if number:
            restart(case, number)
    case.driver.do("detach", stream="d")
    eventually("it is detached", lambda: not case.world.call("instance.get", instance="delegate")["bridge"]["attached"])
    assert case.driver.call("token.refresh", instance="delegate").fails()["reason"] == "noProvider"


def a_delegate_passes_fails_hangs_and_denies(case):
    create(case, "denied")
    for mode, reason in (("pass", "noProvider"), ("fail", "providerFailed"), ("hang", "providerTimeout")):
        case.driver.attach(mode, ["denied"], mode=mode, timeout=0.2).wait()
        error = case.driver.call("token.refresh", instance="denied").fails()
        assert error["reason"] == reason, (mode, error)
        assert "question" in case.driver.questions.get(timeout=60)
        if mode == "fail" and "log" in case.driver.can:
            # The program itself is told why; the daemon is not (below).
            assert "secret of the app" in case.driver.errors(), case.driver.errors()
        if mode == "hang" and "cancel" in case.driver.can:
            assert case.driver.questions.get(timeout=60) == {"cancelled": True}
        case.driver.do("detach", stream=mode)
    case.driver.attach("deny", ["denied"], mode="deny").wait()
    error = case.driver.call("token.refresh", instance="denied").fails()
    assert error["reason"] == "providerDenied", error
    assert "question" in case.driver.questions.get(timeout=60)
    case.driver.do("detach", stream="deny")
    with open(case.world.log, "rb") as log:
        assert b"secret of the app" not in log.read()


def a_delegate_of_nothing_is_refused(case):
    assert case.driver.attach("x", ["no-such"]).fails()["reason"] == "instanceNotFound"


def a_daemon_that_does_not_come_back_is_said(case):
    case.driver.connect(case.world.socket, client="short", retry=0.3).wait()
    case.world.end(signal.SIGKILL)
    try:
        error = case.driver.call("daemon.info", client="short").fails()
        assert error["reason"] == "noDaemon" and error["retryable"], error
        error = case.driver.call("storage.put", client="short", instance="x", key="k", value=1).fails()
        assert error["reason"] == "noDaemon" and not error["may_have_run"], error
    finally:
        case.world.start()
    case.driver.call("daemon.info", client="short").wait()


REAL = [
    calls_give_results_and_errors, reads_survive_restarts, writes_survive_restarts_or_are_unknown,
    a_daemon_that_hangs_ends_calls_at_their_deadline, events_come_once_and_in_order, the_status_of_the_connection_is_told,
    a_slow_reader_misses_nothing, a_cursor_of_another_state_gives_a_gap, a_delegate_answers_through_restarts,
    a_delegate_passes_fails_hangs_and_denies, a_delegate_of_nothing_is_refused, a_daemon_that_does_not_come_back_is_said,
]
