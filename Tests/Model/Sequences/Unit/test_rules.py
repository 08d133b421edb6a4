"""Each rule on records that break it, and on the nearest ones that don't."""
import unittest

from samples import Sample
import rules_calls, rules_events, rules_readers, rules_vendor
from history import History, people_in

TOKEN = {"token": "zqsecret.alice.1"}


class RuleTests(unittest.TestCase):
    def check(self, rule, good, bad):
        for name, sample in good.items():
            with self.subTest(name):
                self.assertEqual(list(rule(History(sample.record))), [])
        for name, sample in bad.items():
            with self.subTest(name):
                self.assertEqual(len(list(rule(History(sample.record)))), 1)

    def test_people_are_found_in_tokens_headers_and_ids(self):
        jwt = "Bearer eyJhbGciOiJIUzI1NiJ9.eyJleHRlcm5hbF9pZCI6ImFsaWNlIn0.x"
        basic = "Basic aWQtYWxpY2U6eA=="
        for text in ("zs_zqsecret.alice.3", "005alice", {"id": "id-alice"}, {"id": "360510"}, jwt, basic):
            self.assertEqual(people_in(text), {"alice"})
        self.assertEqual(people_in({"user": "malice", "n": 13605187}), set())

    def test_1_a_reader_gets_the_user_of_its_time_and_connection(self):
        def switch(line, sent, ended=2, **more):
            return Sample("m").sign_in(0, "alice", 0, 1).sign_in(1, "bob", 1.5, ended, **more).call(
                line, "token.get", sent, 3, result=TOKEN)

        edna = Sample("e").sign_in(0, "alice", 0, 1, method="chatCenter.authorize")
        edna.authorize(0, "bob", 1.5, "op1").event(5, "networkError", operation="op1").call(0, "token.get", 2, 6, result=TOKEN)
        leaving = Sample("e").sign_in(0, "alice", 0, 1, method="chatCenter.authorize")
        leaving.sign_out(0, 1.5, 1.6, method="chatCenter.logout", result={"operation": "op1"})
        leaving.event(5, "userLoggedOut", "alice", "op1").call(0, "token.get", 2, 6, result=TOKEN)
        other = Sample("e").sign_in(0, "alice", 0, 1, method="chatCenter.authorize")
        other.authorize(1, "bob", 1.5, "op1").event(5, "userLoggedIn", "bob", "op1").call(0, "token.get", 2, 3, result=TOKEN)
        self.check(rules_readers.other_people, {
            "another connection asks while bob signs in": switch(0, 1.9), "bob is refused": switch(1, 2.5, reason="invalidAuth"),
            "alice returns": switch(0, 2.5).sign_in(2, "alice", 2.2, 4), "another connection is authorizing": other,
            "a logout is accepted and not done": leaving,
            "the daemon was killed": switch(0, 2.5, ended=None),
        }, {
            "bob is in": switch(0, 2.5), "the same connection asks": switch(1, 1.9), "an accepted authorize that fails later": edna,
            "a login answers with another user": Sample("m").sign_in(0, "alice", 0, 1, {"externalId": "bob"})})

    def test_2_each_call_is_answered_and_the_daemon_ends_in_time(self):
        def ended(how, status=0, gone=5):
            sample = Sample("m").call(0, "token.get", 1, None)
            sample.record["lives"] = [{"began": 0, "ended": 4, "how": how, "status": status, "gone": gone}]
            return sample

        self.check(rules_calls.answered, {"killed": ended("kill", -9), "answered": Sample("m").call(0, "token.get", 1, 2)}, {
            "no answer": Sample("m").call(0, "token.get", 1, None), "no answer before the end": ended("restart"),
            "internal": Sample("m").call(0, "token.get", 1, 2, reason="internalError")})
        self.assertEqual(len(list(rules_calls.answered(History(ended("restart", None, 40).record)))), 2)

    def test_3_each_operation_has_one_outcome(self):
        def authorized(*types):
            sample = Sample("e").authorize(0, "alice", 0, "op1")
            for type in types:
                sample.event(1, type, "alice", "op1", cause="switch")
            return sample

        self.check(rules_events.outcomes, {
            "one": authorized("userLoggedIn"), "superseded": authorized("loginSuperseded"),
            "a switch tells of the former user, too": authorized("userLoggedIn").event(0.5, "identityWiped")},
            {"none": authorized(), "two": authorized("userLoggedIn", "networkError"),
             "its own later call": authorized("authenticationFailed").event(1, "authenticationFailed", reason="superseded")})

    def test_3_users_come_and_go_in_order(self):
        def said(*events, kind="m"):
            sample = Sample(kind)
            for at, (type, user) in enumerate(events):
                sample.event(at, type, user)
            return sample

        come, go, wipe = "userLoggedIn", "userLoggedOut", ("identityWiped", None)
        self.check(rules_events.outcomes, {
            "in turn": said((come, "alice"), (go, "alice"), wipe, (come, "bob")),
            "again": said((come, "alice"), (come, "alice"))}, {
            "not wiped": said((come, "alice"), (go, "alice"), (come, "bob")), "replaced": said((come, "alice"), (come, "bob")),
            "wiped too late": said((come, "alice"), (go, "alice"), (come, "bob"), wipe), "never in": said((go, "alice"), wipe),
            "another user's end": said((come, "alice"), (go, "bob"), wipe)})
        for visitor in ("anon1", None):
            followed = [("anonymousUserCreated", visitor), (come, "alice")]
            self.check(rules_events.outcomes, {"m": said(*followed), "c": said(*followed, kind="c")}, {"s": said(*followed, kind="s")})

    def test_4_vendor_and_daemon_agree_on_who_is_signed_in(self):
        def moved(kind, *requests, user="alice"):
            sample = Sample(kind).sign_in(0, "alice", 0, 9, method="chatCenter.authorize" if kind == "e" else "messaging.loginUser")
            for route, arrived, acted, *fault in requests:
                sample.request(route, "alice", arrived, acted, fault=fault[0] if fault else None)
            return sample.state(user)

        late = moved("m", ("login", 1, 1.5), ("login", 2, 2.5), ("logout", 1.8, 3))
        self.check(rules_vendor.presence, {
            "in": moved("m", ("login", 1, 1.5)),
            "out": moved("m", ("login", 1, 1.5), ("logout", 10, 11), user=None).sign_out(0, 9.5, 12),
            "a logout without answer": moved("m", ("login", 1, 2), ("logout", 10, 11, "hang")).sign_out(0, 9.5, 12)}, {
            "in without the daemon": moved("m", ("login", 1, 1.5), user=None), "on again": moved(
                "e", ("CLIENT_INFO", 1, 2), ("CLIENT_OFFLINE", 10, 11), ("CLIENT_INFO", 10.5, 12), user=None).sign_out(0, 9.5, 12)})
        self.assertTrue(any("signed out" in what for what in rules_vendor.presence(History(late.record))))

    def test_4_a_logout_has_a_reason(self):
        def returned(arrived, *, again=3.5, line=0, **more):
            sample = Sample("m").sign_in(0, "alice", 0, 1).sign_in(line, "bob", 2, 3)
            sample.sign_in(0, "alice", again, 4, credential="second").request("login", "alice", 3.6, 3.9, token="second")
            return sample.request("logout", "alice", arrived, arrived + 0.1, **more)

        self.check(rules_vendor.unasked, {
            "before she returns": returned(3.1), "asked for later": returned(6).sign_out(1, 5, 6.5),
            "another connection's switch at the same time": returned(4.5, again=2.5, line=1)},
            {"after she has returned": returned(4.5), "while she returns": returned(3.85)})
        settings = {"account": {"refresh_token": "r"}}
        method = "serviceChat.setAuthenticationSettings"

        def pending(arrived):
            sample = Sample("f").sign_in(0, "bob", 0, 1, credential="a", method=method, service="cases", settings=settings)
            sample.sign_in(0, None, 2, 3, method=method, service="cases", settings=None)
            sample.sign_in(0, "bob", 4, 5, credential="a", method=method, service="cases", settings=settings)
            return sample.request("revocation", "bob", arrived, arrived + 0.1, token="r", grant="g")

        self.check(rules_vendor.unasked, {"before they are set again": pending(3.5)}, {"tried again later": pending(6)})

        def refused(arrived):
            sample = Sample("f").sign_in(
                0, "bob", 4, 5, reason="invalidAuth", credential="a", method=method, service="cases", settings=settings)
            return sample.request("revocation", "bob", arrived, arrived + 0.1, token="r", grant="g")

        self.check(rules_vendor.revoked, {"revoked before": refused(3.5)}, {"revoked while they are set": refused(4.5)})

        def accepted(arrived, acted):
            sample = Sample("f").sign_in(0, "bob", 4, 5, {}, credential="a", method=method, service="cases", settings=settings)
            return sample.request("revocation", "bob", arrived, acted, token="r", grant="g")

        self.check(rules_vendor.revoked, {"revoked before": accepted(3, 3.5)}, {
            "still being revoked": accepted(3.5, 6), "revoked meanwhile": accepted(4.2, 4.5)})

    def test_5_and_7_events_state_and_restart_agree(self):
        said = Sample("m").event(1, "userLoggedIn", "alice")
        self.check(rules_events.followed, {"the same": said.state("alice")}, {})
        self.assertEqual(len(list(rules_events.followed(History(said.state("bob").record)))), 2)
        missed = Sample("m").event(1, "userLoggedIn", "alice").state("alice")
        missed.record["events"].clear()
        self.check(rules_events.followed, {}, {"an event that nobody heard": missed})
        gone = {"users": {"": {}}}
        self.check(rules_events.restarted, {"the same": Sample("m").state("alice")}, {
            "a stored value": Sample("m").state("alice", storage={"k1": "v"}),
            "the user": Sample("m").state("alice", **gone), "a push": Sample("m").state("alice", pushes=[{"id": "p"}])})

    def test_6_values_live_as_long_as_their_user(self):
        def stored(value, epoch, put_result=None, wiped=None, **more):
            sample = Sample("m").call(0, "storage.put", 1, 2, {"key": "k", "value": "v1"}, put_result, **more)
            if wiped:
                sample.event(wiped, "identityWiped", storageEpoch="e1")
            return sample.call(1, "storage.get", 5, 6, {"key": "k"}, {"value": value, "storageEpoch": epoch})

        self.check(rules_readers.stored_values, {
            "there": stored("v1", "e0"), "gone with the user": stored(None, "e1", wiped=3),
            "put after the wipe": stored("v1", "e1", wiped=0.5),
            "deleted": stored(None, "e0").call(2, "storage.delete", 1.5, 6, {"key": "k"})}, {
            "lost": stored(None, "e0"), "lost after the wipe": stored(None, "e1", wiped=0.5),
            "refused": stored("v1", "e0", reason="epochChanged"),
            "the former user's storage": stored("v1", "e0", wiped=3)})
        kept = stored("v1", "e1", wiped=4)
        kept.record["calls"].insert(1, {**kept.record["calls"][-1], "n": 7, "sent": 2.5, "answered": 3})
        kept.record["calls"][1]["result"] = {"value": "v1", "storageEpoch": "e0"}
        self.check(rules_readers.stored_values, {}, {"outlived": kept})

    def test_8_a_refresh_token_is_spent_once_at_a_time(self):
        def spent(second, **more):
            sample = Sample("f").request("refresh", "alice", 1, 1.2, 2, token="r", **more)
            return sample.request("refresh", "alice", second, 3, token="r")

        killed = spent(1.5)
        killed.record["lives"] = [{"began": 0, "ended": 1.4, "how": "kill", "status": -9}]
        self.check(rules_vendor.spent_once, {"one after the other": spent(2.1), "killed between": killed}, {"at once": spent(1.5)})

    def test_9_only_an_answer_of_the_bridge_signs_out(self):
        def asked(**more):
            return Sample("f").question("authenticationFailed", 1, 2, **more).event(3, "userLoggedOut", "alice", cause="guest")

        self.check(rules_events.failing_bridge, {"denied": asked(denied=True), "supplied and refused": asked(supplied="alice")}, {
            "only failed": asked()})

    def test_10_a_change_waits_for_no_question_and_no_registration(self):
        def waited(until, method="storage.put"):
            return Sample("f").question("shouldAuthenticate", 1, 3).call(1, method, 1.1, until)

        signing = waited(3.02).sign_in(0, "bob", 1.05, 3)
        pushing = Sample("s").call(0, "push.register", 1, 4).call(1, "storage.put", 1.1, 4.02)
        self.check(rules_calls.waits, {"at once": waited(1.2), "a read": waited(3.02, "token.get"), "behind a login": signing},
                   {"until the answer": waited(3.02), "until it was registered": pushing})

    def test_11_the_same_identity_shares_outcome_and_question(self):
        def twice(reason, credential="c", rival=False):
            sample = Sample("m").sign_in(0, "alice", 1, 3, reason=reason, credential="c")
            sample.sign_in(0, "alice", 1.1, 3, credential=credential)
            return sample.sign_in(1, "bob", 1.05, 2) if rival else sample

        asked = Sample("s").question("getToken", 1, 2)
        self.check(rules_calls.shared, {
            "shared": twice(None), "another credential": twice("superseded", "d"),
            "another user came": twice("superseded", rival=True),
            "one question after the other": Sample("s").question("getToken", 1, 2).question("getToken", 2.1, 3),
            "a question for each service": Sample("f").question("x", 1, 2, service="a").question("x", 1, 2, service="b")},
            {"superseded": twice("superseded"), "two questions": asked.question("getToken", 1.2, 3)})

    def test_12_the_same_identity_again_is_no_change(self):
        def set_twice(first, second, sent=3, credential="c", ended=2):
            sample = Sample("s").sign_in(0, "alice", 1, ended, {"changed": first}, credential="c", method="support.setIdentity")
            return sample.sign_in(1, "alice", sent, 4, {"changed": second}, credential=credential, method="support.setIdentity")

        left = Sample("s").sign_in(0, "alice", 1, 2, {"changed": True}, credential="c").sign_out(0, 2.1, 2.2)
        self.check(rules_calls.unchanged, {
            "the same again": set_twice(True, False), "another": set_twice(True, True, credential="d"),
            "at once": set_twice(True, True, sent=1.5), "after a logout": left.sign_in(
                0, "alice", 3, 4, {"changed": True}, credential="c")},
            {"changed": set_twice(True, True), "the first is none": set_twice(False, False)})


if __name__ == "__main__":
    unittest.main()
