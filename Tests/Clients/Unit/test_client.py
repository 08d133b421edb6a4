"""The parts of the Python client that do no I/O, sockets that are trusted, and Ctrl-C."""
import asyncio, errno, gc, os, signal, socket, sys, tempfile, threading, unittest, unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import sdkd
from falsehood import Falsehood, event, gap
from sdkd import _errors, _retry, _sentences, _socket, _wire


def everything(lines, *pieces):
    return [line for piece in pieces for line in lines.feed(piece)]


class LineTests(unittest.TestCase):
    def test_lines_are_split_wherever_the_pieces_end(self):
        text = "{}\n\r\n \n\"ä\"\n[1]\n".encode()
        for cut in range(len(text)):
            lines = everything(_wire.Lines(100), text[:cut], text[cut:])
            self.assertEqual(lines, [b"{}", "\"ä\"".encode(), b"[1]"])

    def test_a_long_line_is_refused_before_it_ends(self):
        for pieces in ([b"x" * 11], [b"x" * 6, b"x" * 5], [b"x" * 11 + b"\n"]):
            with self.assertRaises(sdkd.Error) as caught:
                everything(_wire.Lines(10), *pieces)
            self.assertEqual(caught.exception.reason, "badAnswer")
        self.assertEqual(everything(_wire.Lines(10), b"x" * 10 + b"\n"), [b"x" * 10])

    def test_what_is_no_message_is_refused(self):
        for text in (b"", b"{", b"1", b"[1]", b"\xff", b"NaN", b'{"a":Infinity}', b"[" * 100_000):
            with self.assertRaises(sdkd.Error):
                _wire.messages(text)

    def test_what_json_cannot_hold_is_refused(self):
        for value in (float("nan"), {1, 2}, "\ud800"):
            with self.assertRaises((TypeError, ValueError)):
                _wire.text(params=value)


class RetryTests(unittest.TestCase):
    def test_pauses_double_up_to_the_longest_and_end_at_the_limit(self):
        schedule, pauses = _retry.Schedule(1), []
        while (pause := schedule.next(1)) is not None:
            pauses.append(pause)
        self.assertEqual([round(pause, 6) for pause in pauses[:6]], [0.01, 0.02, 0.04, 0.08, 0.16, 0.32])
        self.assertAlmostEqual(sum(pauses), 1)
        self.assertEqual(_retry.Schedule(1).next(0), 0.005)

    def pause(self, failure, is_read, was_sent=True, was_connected=True, patience=0.0):
        return _retry.Attempts("m", is_read, 5, patience).pause(failure, was_sent, was_connected, 1)

    def test_only_what_surely_did_not_run_is_sent_again(self):
        refused = {reason: sdkd.Error(reason, "", code=-32050) for reason in ("shuttingDown", "tooManyInFlight")}
        for is_read in (True, False):
            for failure in refused.values():
                self.assertGreater(self.pause(failure, is_read), 0)
            self.assertGreater(self.pause(_errors.closed(), is_read, was_sent=False), 0)
        self.assertGreater(self.pause(_errors.closed(), True), 0)
        for failure in (_errors.closed(), _errors.timeout(), _errors.bad_answer("")):
            with self.assertRaises(sdkd.OutcomeUnknown) as caught:
                self.pause(failure, False)
            self.assertTrue(caught.exception.may_have_run)
        for failure in (_errors.timeout(), _errors.bad_answer(""), sdkd.Error("noDaemon", "")):
            with self.assertRaises(sdkd.Error) as caught:
                self.pause(failure, True, was_connected=False)
            self.assertIs(caught.exception, failure)
            self.assertFalse(failure.may_have_run)
        self.assertGreater(self.pause(sdkd.Error("noDaemon", ""), False, was_sent=False), 0)

    def test_reads_wait_for_the_rate_limit_as_long_as_they_may(self):
        def limit(seconds):
            return sdkd.Error("rateLimit", "", code=-32050, data={"retryAfter": seconds, "retryable": True})

        self.assertEqual(self.pause(limit(2), True, patience=2), 2)
        attempts = _retry.Attempts("m", True, 5, 3)
        self.assertEqual(attempts.pause(limit(2), True, True, 1), 2)
        for is_read, patience in ((True, 1), (False, 5)):
            with self.assertRaises(sdkd.Error):
                self.pause(limit(2), is_read, patience=patience)
        with self.assertRaises(sdkd.Error):
            attempts.pause(limit(2), True, True, 1)


class ErrorTests(unittest.TestCase):
    def test_errors_of_any_shape_are_read(self):
        error = _errors.refusal({"code": -32001, "message": "No.", "data": {
            "reason": "accessDenied", "retryable": True, "retryAfter": 1e9, "instance": "a", "hints": ["x", 1]}})
        self.assertEqual((error.reason, error.retryable, error.retry_after), ("accessDenied", True, 86_400))
        self.assertEqual((error.instance, error.hints, str(error)), ("a", ["x"], "No."))
        for odd in (None, 1, [], {}, {"code": True, "message": ""}, {"code": 1}):
            self.assertEqual(_errors.refusal(odd).reason, "badAnswer")
        for data in (None, 1, {"retryAfter": "x", "hints": 1, "reason": 3}, {"retryAfter": -1}, {"retryAfter": True}):
            error = _errors.refusal({"code": 1, "message": "", "data": data})
            self.assertEqual((error.reason, error.retry_after, error.hints), ("unknown", None, []))

    def test_each_sentence_is_in_the_language_that_is_asked(self):
        for language, text in {
            "en": "Please sign in again.", "de-AT": "Bitte melden Sie sich noch einmal an.", "FR": "Veuillez vous connecter à nouveau.",
            "es": "Inicie sesión de nuevo, por favor.", "ru_RU.UTF-8": "Пожалуйста, выполните вход ещё раз.", "": "Please sign in again.",
            "tlh": "Please sign in again.",
        }.items():
            self.assertEqual(sdkd.sentence("reauthNeeded", language), text)
        self.assertEqual(sdkd.Error("network", "").sentence("de"), sdkd.sentence("network", "de"))
        self.assertEqual(sdkd.sentence("aReasonOfALaterDaemon"), sdkd.sentence("clientClosed"))
        for texts in _sentences.TEXTS.values():
            self.assertEqual(tuple(texts), sdkd.LANGUAGES)

    def test_options_are_checked(self):
        for options in ({"deadline": -1}, {"retry": float("nan")}, {"max_calls": 0}):
            with self.assertRaises(ValueError):
                sdkd.Options(**options)


class SocketTests(unittest.TestCase):
    def test_the_socket_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = dict(os.environ)
            try:
                os.environ.update(SDKD_SOCKET="/x", XDG_RUNTIME_DIR=folder)
                self.assertEqual(sdkd.automatic_socket(), "/x")
                os.environ["SDKD_SOCKET"] = ""
                self.assertEqual(sdkd.automatic_socket(), "/run/sdkd/sdkd.sock")
                os.mkdir(f"{folder}/sdkd")
                open(f"{folder}/sdkd/sdkd.sock", "w").close()
                self.assertEqual(sdkd.automatic_socket(), f"{folder}/sdkd/sdkd.sock")
            finally:
                os.environ.clear()
                os.environ.update(kept)
        self.assertEqual(sdkd.tenant_socket("acme_1"), "/run/sdkd-tenants/acme_1.sock")
        for name in ("", "a/b", "a\n", "x" * 27):
            with self.assertRaises(sdkd.Error):
                sdkd.tenant_socket(name)

    def test_only_root_sdkd_and_oneself_are_trusted(self):
        self.assertTrue(sdkd.standard_trust(os.geteuid(), os.getpid(), "/tmp/x"))
        self.assertFalse(sdkd.standard_trust(65534, 5, "/tmp/x"))
        # The service manager, or a process of another pid namespace: only where root alone can create sockets.
        self.assertFalse(sdkd.standard_trust(0, 1, "/tmp/x"))
        self.assertFalse(sdkd.standard_trust(0, 0, "/run/sdkd/../x.sock"))
        self.assertTrue(sdkd.standard_trust(0, 2, "/tmp/x"))

    def test_paths_that_no_socket_can_have_are_refused(self):
        for path, reason in (("", "badLocation"), ("/" + "x" * 200, "noDaemon"), ("/a\0b", "noDaemon"), ("/", "noDaemon")):
            with self.assertRaises(sdkd.Error) as caught:
                _socket.attempt(path, sdkd.standard_trust)
            self.assertEqual(caught.exception.reason, reason)

    def test_a_missing_descriptor_is_an_error_of_the_system(self):
        failure = OSError(errno.EMFILE, "Too many open files")
        with unittest.mock.patch("socket.socket", side_effect=failure), self.assertRaises(sdkd.Error) as caught:
            _socket.attempt("/tmp/x", sdkd.standard_trust)
        self.assertEqual(caught.exception.reason, "systemError")


class TaskTests(unittest.IsolatedAsyncioTestCase):
    """The client for asyncio, towards a false server."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.server = Falsehood(f"{self.folder.name}/s")

    def tearDown(self):
        self.server.close()
        self.folder.cleanup()

    async def peer(self):
        return await asyncio.to_thread(self.server.peer)

    async def request(self, peer, method):
        return await asyncio.to_thread(peer.request, method)

    async def test_a_cancelled_take_does_not_end_the_events(self):
        async with sdkd.aio.connect(self.server.path) as daemon:
            await self.peer()
            events = daemon.events()
            for begin in (events.take, events.start):
                task = asyncio.create_task(begin())
                if begin == events.take:
                    peer = await self.peer()
                    request = await self.request(peer, "events.subscribe")
                await asyncio.sleep(0.01)
                task.cancel()
                await asyncio.wait({task})
                self.assertTrue(task.cancelled())
            peer.result(request, {"subscription": "s", "cursor": "begin"})
            peer.send(gap("r1"))
            self.assertEqual((await events.take(10))["cursor"], "r1")
            task = asyncio.create_task(events.take())
            request = await self.request(peer, "events.resume")
            task.cancel()
            await asyncio.wait({task})
            peer.result(request, {})
            peer.send(event("c1"))
            self.assertEqual((await events.take(10))["cursor"], "c1")

    async def test_events_that_are_closed_while_they_connect_send_nothing(self):
        events = None

        def trust(uid, pid, path):
            if events is not None:
                events._end()
            return True

        async with sdkd.aio.connect(self.server.path, options=sdkd.Options(trust=trust)) as daemon:
            await self.peer()
            events = daemon.events()
            self.assertIsNone(await asyncio.wait_for(events.take(), 10))
            self.assertIsNone(await asyncio.to_thread((await self.peer()).read))

    async def test_a_delegate_whose_reconnect_fails_ends_with_an_error(self):
        trusts = iter([True, True])
        options = sdkd.Options(trust=lambda uid, pid, path: next(trusts))
        async with sdkd.aio.connect(self.server.path, options=options) as daemon:
            await self.peer()
            attaching = asyncio.create_task(daemon.attach(["desk"], None))
            peer = await self.peer()
            peer.result(await self.request(peer, "delegate.attach"), {})
            attachment = await attaching
            peer.close()
            states = [await asyncio.wait_for(attachment.next(), 10) for _ in range(3)]
            self.assertEqual([status.state for status in states], ["attached", "detached", "ended"])
            self.assertEqual(states[-1].error.reason, "systemError")


class ThreadTests(unittest.TestCase):
    """The client for threads, towards a server that never answers."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(f"{self.folder.name}/s")
        self.server.listen()

    def tearDown(self):
        self.server.close()
        self.folder.cleanup()

    def test_an_interrupt_cancels_the_call(self):
        with sdkd.connect(f"{self.folder.name}/s") as daemon:
            peer, _ = self.server.accept()
            with peer, peer.makefile("rb") as lines:
                def interrupt():
                    lines.readline()
                    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

                thread = threading.Thread(target=interrupt)
                thread.start()
                with self.assertRaises(KeyboardInterrupt):
                    daemon.daemon.info()
                thread.join()
                self.assertIn(b"cancelRequest", lines.readline())

    def test_closing_ends_what_waits(self):
        daemon, outcomes = sdkd.connect(f"{self.folder.name}/s"), []
        peer, _ = self.server.accept()
        with peer, peer.makefile("rb") as lines:
            def call():
                try:
                    daemon.daemon.info()
                except sdkd.Error as error:
                    outcomes.append(error.reason)

            def follow():
                outcomes.append(list(daemon.events()))

            threads = [threading.Thread(target=call), threading.Thread(target=follow)]
            threads[0].start()
            lines.readline()
            threads[1].start()
            other, _ = self.server.accept()
            with other:
                other.recv(1)
                daemon.close()
                for thread in threads:
                    thread.join(60)
        self.assertEqual(sorted(map(str, outcomes)), ["[]", "clientClosed"])
        daemon.close()
        with self.assertRaises(sdkd.Error):
            daemon.daemon.info()

    def outcome(self, daemon, work):
        """The reason with which work on the client's thread ends, within 10 seconds."""
        outcomes = []

        def run():
            try:
                outcomes.append(daemon._runner.run(work))
            except BaseException as error:
                outcomes.append(getattr(error, "reason", error))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(10)
        self.assertEqual(len(outcomes), 1, "it waits for ever")
        return outcomes[0]

    def in_child(self, work):
        """What work returns, or the reason of its error, in a forked process that has ten seconds."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(10)
            try:
                outcome = str(work())
            except sdkd.Error as error:
                outcome = f"{error.reason}: {error}"
            except BaseException as error:
                outcome = repr(error)
            os.write(writer, outcome.encode())
            os._exit(0)
        os.close(writer)
        with open(reader) as outcome:
            text = outcome.read()
        self.assertEqual(os.waitpid(child, 0)[1], 0, "the call waits for ever")
        return text

    def test_a_client_in_a_forked_process_says_so_at_once(self):
        daemon = sdkd.connect(f"{self.folder.name}/s")
        peer, _ = self.server.accept()
        events = daemon.events()
        works = [
            lambda: daemon.daemon.info(deadline=5), lambda: daemon.call("daemon.info"), events.start, lambda: next(events),
            events.close, lambda: daemon.attach(["desk"], lambda question: None),
            lambda: asyncio.run(daemon._client.daemon.info()), lambda: asyncio.run(daemon._client.attach(["desk"], print)),
        ]
        for work in works:
            said = self.in_child(work)
            self.assertTrue(said.startswith("clientClosed: ") and "connect after the fork" in said, said)
        # Closing in the child leaves the parent's client as it is.
        self.assertEqual(self.in_child(daemon.close), "None")
        self.assertEqual(self.in_child(lambda: asyncio.run(daemon._client.close())), "None")
        with peer, peer.makefile("rb") as lines:
            def answer():
                lines.readline()
                peer.sendall(b'{"jsonrpc":"2.0","id":1,"result":{"name":"sdkd"}}\n')

            thread = threading.Thread(target=answer)
            thread.start()
            self.assertEqual(daemon.daemon.info(deadline=60)["name"], "sdkd")
            thread.join()
            daemon.close()

    def test_a_call_that_races_with_closing_ends(self):
        daemon = sdkd.connect(f"{self.folder.name}/s")
        closing = threading.Thread(target=daemon.close)

        def work():
            # The client is closed after it was found open, and before the call begins.
            closing.start()
            closing.join(1)
            return asyncio.sleep(60)

        self.assertEqual(self.outcome(daemon, work), "clientClosed")
        closing.join()

    def test_a_call_that_ignores_its_cancellation_ends_with_the_client(self):
        daemon = sdkd.connect(f"{self.folder.name}/s")
        ignoring = threading.Event()

        async def ignore():
            ignoring.set()
            while ignoring.is_set():
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    pass

        def close():
            ignoring.wait()
            daemon.close()

        closing = threading.Thread(target=close)
        closing.start()
        with self.assertLogs("asyncio"):  # A task that is still pending is destroyed.
            self.assertEqual(self.outcome(daemon, ignore), "clientClosed")
            closing.join()
            ignoring.clear()
            gc.collect()

    def test_calls_end_when_the_clients_thread_has_ended(self):
        daemon = sdkd.connect(f"{self.folder.name}/s")

        async def end():
            sys.exit()

        for work in (end, daemon._client.daemon.info):
            self.assertEqual(self.outcome(daemon, work), "clientClosed")
        daemon.close()

    def test_a_handler_that_exits_passes_the_question_on(self):
        server = Falsehood(f"{self.folder.name}/t")
        for failure in (SystemExit, KeyboardInterrupt, StopIteration):
            def answer(question):
                raise failure

            daemon = sdkd.connect(server.path)
            first = server.peer()
            attaching = threading.Thread(target=daemon.attach, args=(["desk"], answer), daemon=True)
            attaching.start()
            peer = server.peer()
            peer.result(peer.request("delegate.attach"), {})
            attaching.join(10)
            with self.assertLogs("sdkd"):
                peer.send({"id": 1, "method": "delegate.getToken", "params": {}})
                self.assertEqual(peer.read()["error"]["data"]["reason"], "providerFailed")
            responding = threading.Thread(target=lambda: first.result(first.request("daemon.info"), {}))
            responding.start()
            self.assertEqual(self.outcome(daemon, daemon._client.daemon.info), {})
            responding.join()
            daemon.close()
        server.close()


if __name__ == "__main__":
    unittest.main()
