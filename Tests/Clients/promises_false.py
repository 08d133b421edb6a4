"""What the clients promise towards a server that breaks rules, connections and promises."""
import contextlib, json, os, threading

from falsehood import Falsehood, event, gap
from world import eventually


@contextlib.contextmanager
def false(case, **options):
    """A false server to which the client is connected. Yields it and its first connection."""
    server = Falsehood(os.path.join(case.folder, "false"))
    try:
        case.driver.connect(server.path, client="false", **options).wait()
        yield server, None if "max_line" in options else server.peer()
    finally:
        case.driver.do("close", client="false")
        server.close()


def read(case, **params):
    return case.driver.call("instance.get", client="false", instance="desk", **params)


def write(case, **params):
    return case.driver.call("storage.put", client="false", instance="desk", key="k", value=1, **params)


def by_name(peer, count):
    """The next requests of a connection, by their param `name`. Threads send them in any order."""
    requests = [peer.read() for _ in range(count)]
    return {request["params"]["name"]: request for request in requests}


def a_daemon_that_never_was_there_is_said_at_once(case):
    error = case.driver.connect(os.path.join(case.folder, "nothing"), client="none").fails()
    assert error["reason"] == "noDaemon" and not error["may_have_run"] and error["code"] is None, error


def nothing_is_sent_to_a_server_of_another_user(case):
    if os.geteuid() != 0:
        return
    folder = os.path.join(case.folder, "foreign")
    os.makedirs(folder, exist_ok=True)
    os.chown(folder, 65534, 65534)
    server = Falsehood(os.path.join(folder, "s"), uid=65534)
    try:
        # A client that connects with its first call, too.
        for options in ({}, {"max_line": 1 << 20}):
            pending = case.driver.connect(server.path, client="foreign", **options)
            error = pending.fails() if not options or "lazy" not in case.traits else (
                pending.wait(), case.driver.call("daemon.info", client="foreign").fails())[1]
            assert error["reason"] == "untrustedServer" and not error["retryable"], error
        while not server.peers.empty():
            assert server.peer().read() is None
    finally:
        server.close()


def a_read_whose_answer_is_lost_is_sent_again(case):
    with false(case) as (server, peer):
        call = read(case)
        peer.request("instance.get")
        peer.close()
        peer = server.peer()
        peer.result(peer.request("instance.get"), {"a": 1})
        assert call.wait() == {"a": 1}


def a_write_whose_answer_is_lost_is_unknown_and_sent_once(case):
    with false(case) as (server, peer):
        call = write(case)
        peer.request("storage.put")
        peer.close()
        error = call.fails()
        assert error["unknown"] and error["may_have_run"] and not error["retryable"], error
        assert error["reason"] == "outcomeUnknown" and "storage.put" in error["message"], error
        assert server.peers.empty()


def a_write_that_was_not_run_is_sent_again(case):
    with false(case) as (server, peer):
        for reason in ("shuttingDown", "tooManyInFlight"):
            call = write(case)
            peer.error(peer.request("storage.put"), reason)
            if reason == "shuttingDown":
                # A daemon that drains answers nothing more on this connection.
                peer = server.peer()
            peer.result(peer.request("storage.put"), {})
            assert call.wait() == {}


def a_write_after_a_lost_connection_goes_to_the_next_one(case):
    with false(case) as (server, peer):
        for _ in range(5):
            call = read(case)
            peer.result(peer.request("instance.get"), {})
            call.wait()
            peer.close()
            call = write(case)
            peer = server.peer()
            peer.result(peer.request("storage.put"), {})
            assert call.wait() == {}


def a_deadline_ends_the_wait_and_cancels_the_call(case):
    with false(case) as (_, peer):
        for is_write in (False, True):
            call = (write if is_write else read)(case, deadline=0.2)
            number = peer.read()["id"]
            error = call.fails()
            assert error["reason"] == ("outcomeUnknown" if is_write else "timeout"), error
            assert error["unknown"] == error["may_have_run"] == is_write, error
            cancel = peer.request("$/cancelRequest")
            assert cancel["params"] == {"id": number} and "id" not in cancel, cancel


def a_late_answer_is_ignored(case):
    with false(case) as (_, peer):
        late = read(case, deadline=0.1)
        first = peer.request("instance.get")
        assert late.fails()["reason"] == "timeout"
        peer.request("$/cancelRequest")
        call = read(case)
        second = peer.request("instance.get")
        peer.result(first, {"a": 1})
        peer.result({"id": 999999}, {"a": 2})
        peer.send({"method": "daemon.closing", "params": {"graceSeconds": 1}})
        peer.result(second, {"a": 3})
        assert call.wait() == {"a": 3}


def reads_wait_for_the_rate_limit_as_long_as_they_may(case):
    with false(case, rate_limit_patience=0.5) as (_, peer):
        call = read(case)
        peer.error(peer.request("instance.get"), "rateLimit", retryAfter=0.05)
        peer.result(peer.request("instance.get"), {})
        call.wait()
        call = read(case)
        peer.error(peer.request("instance.get"), "rateLimit", retryAfter=30)
        error = call.fails()
        assert error["reason"] == "rateLimit" and error["retry_after"] == 30 and error["retryable"], error
        call = write(case)
        peer.error(peer.request("storage.put"), "rateLimit", retryAfter=0.01)
        assert call.fails()["reason"] == "rateLimit"


def an_error_without_an_id_explains_the_end_of_the_connection(case):
    with false(case) as (_, peer):
        call = read(case)
        peer.request("instance.get")
        peer.error(None, "frameTooLarge", code=-32600, retryable=False)
        peer.close()
        assert call.fails()["reason"] == "frameTooLarge"


def an_error_without_an_id_fails_the_only_call_at_once(case):
    with false(case) as (server, peer):
        call = write(case)
        peer.request("storage.put")
        # The daemon reads nothing more on such a connection, or it does: the client can't know.
        peer.error(None, "frameTooLarge", code=-32600, retryable=False)
        error = call.fails()
        assert error["reason"] == "frameTooLarge" and not error["may_have_run"], error
        call = write(case)
        peer = server.peer()
        peer.result(peer.request("storage.put"), {"a": 1})
        assert call.wait() == {"a": 1}
        # The error was not about this write.
        call = write(case)
        peer.request("storage.put")
        peer.close()
        error = call.fails()
        assert error["unknown"] and error["may_have_run"], error


def an_error_without_an_id_that_failed_a_call_fails_no_later_one(case):
    with false(case) as (server, peer):
        call = read(case)
        peer.request("instance.get")
        peer.error(None, "invalidRequest", code=-32600, retryable=False)
        assert call.fails()["reason"] == "invalidRequest"
        call = write(case)
        peer = server.peer()
        peer.request("storage.put")
        peer.close()
        error = call.fails()
        assert error["unknown"] and error["may_have_run"], error


def an_error_without_an_id_fails_no_call_that_it_may_not_mean(case):
    with false(case) as (_, peer):
        late = read(case, deadline=0.1)
        peer.request("instance.get")
        assert late.fails()["reason"] == "timeout"
        peer.request("$/cancelRequest")
        call = write(case)
        request = peer.request("storage.put")
        peer.error(None, "invalidRequest", code=-32600, retryable=False)
        peer.result(request, {"a": 1})
        assert call.wait() == {"a": 1}


def calls_after_an_error_without_an_id_use_another_connection(case):
    with false(case) as (server, peer):
        calls = {"first": read(case, name="first"), "second": read(case, name="second"), "lost": write(case, name="lost")}
        requests = by_name(peer, len(calls))
        # The daemon answers the earlier calls, and may read nothing more on this connection.
        peer.error(None, "frameTooLarge", code=-32600, retryable=False)
        peer.result(requests["second"], {"a": 2})
        assert calls["second"].wait() == {"a": 2}
        later = write(case)
        fresh = server.peer()
        fresh.result(fresh.request("storage.put"), {"a": 3})
        assert later.wait() == {"a": 3}
        peer.result(requests["first"], {"a": 1})
        assert calls["first"].wait() == {"a": 1}
        peer.close()
        error = calls["lost"].fails()
        assert error["unknown"] and error["may_have_run"], error
        assert server.peers.empty()


def a_connection_without_new_calls_ends_with_its_last_one(case):
    with false(case) as (server, peer):
        calls = {"first": read(case, name="first"), "last": read(case, name="last")}
        requests = by_name(peer, len(calls))
        peer.error(None, "frameTooLarge", code=-32600, retryable=False)
        peer.result(requests["first"], {})
        calls["first"].wait()
        later = read(case)
        fresh = server.peer()
        fresh.result(fresh.request("instance.get"), {})
        later.wait()
        peer.result(requests["last"], {"a": 1})
        assert calls["last"].wait() == {"a": 1}
        assert peer.read() is None
        # An error without an id while no call is in progress.
        fresh.error(None, "invalidRequest", code=-32600, retryable=False)
        fresh.send({"id": "q1", "method": "delegate.getToken", "params": {}})
        assert fresh.read()["id"] == "q1"
        later = read(case)
        peer = server.peer()
        peer.result(peer.request("instance.get"), {"a": 2})
        assert later.wait() == {"a": 2}
        assert fresh.read() is None


def a_client_that_is_closed_ends_the_calls_of_all_its_connections(case):
    with false(case) as (server, peer):
        calls = {"first": read(case, name="first"), "lost": write(case, name="lost")}
        requests = by_name(peer, len(calls))
        peer.error(None, "frameTooLarge", code=-32600, retryable=False)
        peer.result(requests["first"], {})
        calls["first"].wait()
        later = write(case)
        fresh = server.peer()
        fresh.request("storage.put")
        closing = case.driver.begin("close", client="false")
        assert peer.read() is None and fresh.read() is None
        for call in (calls["lost"], later):
            assert call.fails()["unknown"]
        closing.wait()


def what_is_no_message_ends_the_call(case):
    texts = [b"no json\n", b"\xff\xfe{}\n", b"[1]\n", b'{"jsonrpc":"2.0","id":1}\n', b"[" * 100_000 + b"\n", b'"x"\n']
    with false(case) as (server, peer):
        for number, text in enumerate(texts):
            call = write(case) if number % 2 else read(case)
            peer.read()
            peer.raw(text)
            error = call.fails()
            assert error["reason"] == ("outcomeUnknown" if number % 2 else "badAnswer"), (text[:20], error)
            assert peer.read() is None
            if number < len(texts) - 1:
                nudge = read(case)
                peer = server.peer()
                peer.result(peer.request("instance.get"), {})
                nudge.wait()


def a_line_without_an_end_is_bounded(case):
    with false(case, max_line=10_000) as (server, _):
        call = read(case)
        peer = server.peer()
        peer.request("instance.get")
        peer.raw(b'{"jsonrpc":"2.0","id":1,"result":"' + b"x" * 20_000)
        assert call.fails()["reason"] == "badAnswer"
        assert peer.read() is None


def calls_in_progress_are_bounded(case):
    with false(case, max_calls=2) as (_, peer):
        calls = [read(case), read(case)]
        requests = [peer.request("instance.get") for _ in calls]
        error = read(case).fails()
        assert error["reason"] == "tooManyCalls" and error["retryable"] and not error["may_have_run"], error
        for request in reversed(requests):
            peer.result(request, {"id": request["id"]})
        for call in calls:
            call.wait()


def a_cancelled_call_is_cancelled_at_the_daemon(case):
    if "cancel" not in case.driver.can:
        return
    with false(case) as (_, peer):
        call = write(case)
        number = peer.request("storage.put")["id"]
        case.driver.cancel(call)
        assert call.fails()["reason"] == "cancelled by the caller"
        assert peer.request("$/cancelRequest")["params"] == {"id": number}


def unknown_requests_are_refused(case):
    with false(case) as (_, peer):
        peer.send({"id": "q1", "method": "delegate.getToken", "params": {}})
        answer = peer.read()
        assert answer["id"] == "q1" and answer["error"]["code"] == -32601, answer


# Events


def subscribe(peer, cursor="begin", **params):
    request = peer.request("events.subscribe")
    assert request["params"] == params, request
    peer.result(request, {"subscription": "s", "cursor": cursor})


def events_go_on_after_the_last_one_taken(case):
    with false(case) as (server, _):
        case.driver.events("f", client="false", instances=["desk"])
        item = case.driver.take("f")
        peer = server.peer()
        subscribe(peer, instances=["desk"])
        # Lost before the first event: the cursor of the beginning counts.
        peer.close()
        peer = server.peer()
        subscribe(peer, instances=["desk"], since="begin")
        peer.send(event("c1"), event("c2"), {"method": "events.event", "params": {"subscription": "other", "event": {}}})
        assert item.wait()["cursor"] == "c1"
        assert case.driver.take("f").wait()["cursor"] == "c2"
        item = case.driver.take("f")
        peer.close()
        peer = server.peer()
        subscribe(peer, instances=["desk"], since="c2")
        peer.send(event("c3", "somethingNew"))
        assert item.wait()["type"] == "somethingNew"
        assert case.driver.take("f", deadline=0.1).wait() is None
        peer.close()


def a_gap_waits_for_the_app(case):
    with false(case) as (server, _):
        case.driver.events("g", client="false", since="old")
        item = case.driver.take("g")
        peer = server.peer()
        subscribe(peer, since="old")
        peer.send(gap("r1"))
        found = item.wait()
        assert found["type"] == "gap" and found["cursor"] == "r1", found
        item = case.driver.take("g")
        request = peer.request("events.resume")
        assert request["params"] == {"subscription": "s", "since": "r1"}, request
        peer.result(request, {})
        peer.send(event("c1"))
        assert item.wait()["cursor"] == "c1"
        # Lost while it is paused: subscribing again takes the place of resuming.
        item = case.driver.take("g")
        peer.send(gap("r2"))
        assert item.wait()["cursor"] == "r2"
        peer.close()
        item = case.driver.take("g")
        peer = server.peer()
        subscribe(peer, since="r2")
        peer.send(event("c2"))
        assert item.wait()["cursor"] == "c2"


def events_that_are_not_taken_are_bounded(case):
    with false(case) as (server, _):
        case.driver.events("b", client="false")
        item = case.driver.take("b")
        peer = server.peer()
        subscribe(peer)
        peer.send(event("first"))
        assert item.wait()["cursor"] == "first"
        events = [json.dumps({"jsonrpc": "2.0", **event(f"c{number}")}).encode() + b"\n" for number in range(1000)]
        limit = 32 << 20
        sent = peer.push(b"".join(events), limit)
        assert sent < limit
        # An event that is taken makes room for one, not for all that the socket holds.
        more, pushed = 1 << 20, []
        pushing = threading.Thread(target=lambda: pushed.append(peer.push(b"".join(events), more, start=sent)))
        pushing.start()
        for number in range(60):
            assert case.driver.take("b").wait()["cursor"] == f"c{number}"
        pushing.join()
        assert pushed[0] < more


def a_deadline_ends_a_take_that_subscribes_or_resumes(case):
    with false(case) as (server, _):
        case.driver.events("t", client="false")
        assert case.driver.take("t", deadline=0.1).wait() is None
        server.peer().close()
        item = case.driver.take("t")
        peer = server.peer()
        subscribe(peer)
        peer.send(gap("r1"))
        assert item.wait()["cursor"] == "r1"
        assert case.driver.take("t", deadline=0.1).wait() is None
        peer.request("events.resume")
        peer.close()
        item = case.driver.take("t")
        peer = server.peer()
        subscribe(peer, since="r1")
        peer.send(event("c1"))
        assert item.wait()["cursor"] == "c1"


def a_take_continues_the_subscription_of_one_that_was_late(case):
    if "resubscribes" in case.traits:
        return
    with false(case) as (server, _):
        case.driver.events("l", client="false")
        # Takes that never wait make progress.
        assert case.driver.take("l", deadline=0).wait() is None
        peer = server.peer()
        request = peer.request("events.subscribe")
        assert case.driver.take("l", deadline=0).wait() is None
        peer.result(request, {"subscription": "s", "cursor": "begin"})
        peer.send(gap("r1"))
        assert case.driver.take("l").wait()["cursor"] == "r1"
        assert case.driver.take("l", deadline=0).wait() is None
        peer.result(peer.request("events.resume"), {})
        peer.send(event("c1"))
        assert case.driver.take("l").wait()["cursor"] == "c1"
        assert server.peers.empty()


def a_refusal_that_comes_late_is_thrown_by_the_next_take(case):
    if "resubscribes" in case.traits:
        return
    with false(case) as (server, _):
        case.driver.events("m", client="false")
        assert case.driver.take("m", deadline=0).wait() is None
        peer = server.peer()
        peer.error(peer.request("events.subscribe"), "accessDenied", code=-32030, retryable=False)
        assert peer.read() is None
        assert case.driver.take("m").fails()["reason"] == "accessDenied"
        assert server.peers.empty()


def events_that_are_refused_end(case):
    with false(case) as (server, _):
        case.driver.events("h", client="false")
        item = case.driver.take("h")
        peer = server.peer()
        peer.error(peer.request("events.subscribe"), "invalidParams", code=-32602, retryable=False)
        assert item.fails()["reason"] == "invalidParams"
        # What passes by itself is no end.
        case.driver.events("i", client="false")
        item = case.driver.take("i")
        peer = server.peer()
        subscribe(peer)
        peer.close()
        peer = server.peer()
        peer.error(peer.request("events.subscribe"), "tooManySubscriptions", retryable=False)
        peer = server.peer()
        subscribe(peer, since="begin")
        peer.send(event("c1"))
        assert item.wait()["cursor"] == "c1"


# Delegates

QUESTION = {
    "id": 7, "method": "delegate.getToken",
    "params": {"version": 1, "question": "getToken", "instance": "desk", "kind": "zendesk.messaging", "attempt": 1,
               "user": None, "error": None, "deadline": "2026-01-01T00:00:00.000Z"}}


def a_question_that_is_withdrawn_is_cancelled(case):
    if "cancel" not in case.driver.can:
        return
    with false(case) as (server, _):
        attaching = case.driver.begin(
            "attach", client="false", stream="d", instances=["desk"], mode="hang", answer={}, timeout=None)
        peer = server.peer()
        peer.result(peer.request("delegate.attach"), {})
        attaching.wait()
        peer.send(QUESTION)
        assert case.driver.questions.get(timeout=60)["question"]["instance"] == "desk"
        peer.send({"method": "$/cancelRequest", "params": {"id": 7}})
        assert case.driver.questions.get(timeout=60) == {"cancelled": True}
        detaching = case.driver.begin("detach", stream="d")
        for message in iter(peer.read, None):
            if message.get("method") == "delegate.detach":
                peer.result(message, {})
        detaching.wait()


def a_client_that_is_closed_attaches_no_delegate(case):
    if "reopens" in case.traits:
        return
    with false(case) as (server, first):
        attaching = case.driver.begin(
            "attach", client="false", stream="c", instances=["desk"], mode="pass", answer={}, timeout=None)
        peer = server.peer()
        request = peer.request("delegate.attach")
        closing = case.driver.begin("close", client="false")
        assert first.read() is None
        with contextlib.suppress(OSError):
            peer.send({"id": request["id"], "result": {}}, QUESTION)
        assert attaching.fails()["reason"] == "clientClosed"
        with contextlib.suppress(ConnectionResetError):
            assert peer.read() is None
        closing.wait()
        assert case.driver.questions.empty()


def answer_while_detaching(peer, detaching, *messages):
    """Sends messages once the client calls `delegate.detach` behind its call of `delegate.attach`, then answers that.

    Waits until the client has closed the connection.
    """
    detach = peer.request("delegate.detach")
    with contextlib.suppress(OSError):
        peer.send(*messages)
        peer.result(detach, {})
        while peer.read() is not None:
            pass
    detaching.wait()


def a_delegate_that_is_detached_while_it_attaches_again_is_asked_nothing(case):
    with false(case) as (server, _):
        attaching = case.driver.begin(
            "attach", client="false", stream="n", instances=["desk"], mode="pass", answer={}, timeout=None)
        peer = server.peer()
        peer.result(peer.request("delegate.attach"), {})
        attaching.wait()
        assert case.driver.do("status", stream="n")["state"] == "attached"
        peer.close()
        assert case.driver.do("status", stream="n")["state"] == "detached"
        peer = server.peer()
        request = peer.request("delegate.attach")
        detaching = case.driver.begin("detach", stream="n")
        answer_while_detaching(peer, detaching, {"id": request["id"], "result": {}}, QUESTION)
        assert case.driver.do("status", stream="n") == {"state": "ended", "error": None}
        assert case.driver.do("status", stream="n") is None
        assert case.driver.questions.empty() and server.peers.empty()


def a_delegate_whose_attachment_fails_while_it_is_detached_is_detached(case):
    with false(case) as (server, _):
        attaching = case.driver.begin(
            "attach", client="false", stream="o", instances=["desk"], mode="pass", answer={}, timeout=None)
        peer = server.peer()
        peer.result(peer.request("delegate.attach"), {})
        attaching.wait()
        peer.close()
        peer = server.peer()
        request = peer.request("delegate.attach")
        detaching = case.driver.begin("detach", stream="o")
        error = {"code": -32050, "message": "A false error.", "data": {"reason": "rateLimit", "retryable": True}}
        answer_while_detaching(peer, detaching, {"id": request["id"], "error": error})
        for state in ("attached", "detached", "ended"):
            assert case.driver.do("status", stream="o")["state"] == state
        assert server.peers.empty()


def a_delegate_that_is_refused_for_good_ends(case):
    with false(case) as (server, _):
        attaching = case.driver.begin(
            "attach", client="false", stream="e", instances=["desk"], mode="pass", answer={}, timeout=3)
        peer = server.peer()
        request = peer.request("delegate.attach")
        assert request["params"] == {"instances": ["desk"], "timeout": 3}, request
        peer.result(request, {})
        attaching.wait()
        assert case.driver.do("status", stream="e") == {"state": "attached", "error": None}
        peer.close()
        assert case.driver.do("status", stream="e")["state"] == "detached"
        peer = server.peer()
        peer.error(peer.request("delegate.attach"), "accessDenied", code=-32001, retryable=False)
        assert case.driver.do("status", stream="e") == {"state": "ended", "error": "accessDenied"}
        assert case.driver.do("status", stream="e") is None


FALSE = [
    a_daemon_that_never_was_there_is_said_at_once, nothing_is_sent_to_a_server_of_another_user,
    a_read_whose_answer_is_lost_is_sent_again, a_write_whose_answer_is_lost_is_unknown_and_sent_once,
    a_write_that_was_not_run_is_sent_again, a_write_after_a_lost_connection_goes_to_the_next_one,
    a_deadline_ends_the_wait_and_cancels_the_call, a_late_answer_is_ignored,
    reads_wait_for_the_rate_limit_as_long_as_they_may, an_error_without_an_id_explains_the_end_of_the_connection,
    an_error_without_an_id_fails_the_only_call_at_once, an_error_without_an_id_that_failed_a_call_fails_no_later_one,
    an_error_without_an_id_fails_no_call_that_it_may_not_mean, calls_after_an_error_without_an_id_use_another_connection,
    a_connection_without_new_calls_ends_with_its_last_one, a_client_that_is_closed_ends_the_calls_of_all_its_connections,
    what_is_no_message_ends_the_call,
    a_line_without_an_end_is_bounded, calls_in_progress_are_bounded, a_cancelled_call_is_cancelled_at_the_daemon,
    unknown_requests_are_refused, events_go_on_after_the_last_one_taken, a_gap_waits_for_the_app,
    events_that_are_not_taken_are_bounded, a_deadline_ends_a_take_that_subscribes_or_resumes,
    a_take_continues_the_subscription_of_one_that_was_late,
    a_refusal_that_comes_late_is_thrown_by_the_next_take, events_that_are_refused_end,
    a_question_that_is_withdrawn_is_cancelled, a_client_that_is_closed_attaches_no_delegate,
    a_delegate_that_is_detached_while_it_attaches_again_is_asked_nothing,
    a_delegate_whose_attachment_fails_while_it_is_detached_is_detached, a_delegate_that_is_refused_for_good_ends,
]
