"""Pages in real browsers, with the extension, the host program and the real daemon."""
import base64, functools, http.server, json, os, re, shutil, struct, subprocess, threading

import checks
from browsers import BROWSERS, EXTENSION, FIREFOX_EXTENSIONS
from world import World, eventually

SAMPLES = os.path.join(checks.ROOT, "Packaging", "examples", "browser")
#: A page in which the tests run scripts. `kept` outlives a script.
PAGE = """<!doctype html><meta charset="utf-8"><title>test</title><script type="module">
import * as sdkd from '/sdkd/browser.js';
const AsyncFunction = (async () => {}).constructor;
const kept = {};
window.run = async (text, values) => {
  try {
    return JSON.stringify({ result: (await new AsyncFunction('sdkd', 'kept', 'values', text)(sdkd, kept, values)) ?? null });
  } catch (error) {
    return JSON.stringify({ error: { name: error.name, reason: error.reason, message: error.message } });
  }
};
</script>"""
#: The same in a page that is not of the tests.
RUNNER = PAGE[PAGE.index("<script"):]
#: In the place of the vendors' scripts: what they do with the page's functions, as they document it.
STAND_INS = {
    "snippet.js": """
      // The widget asks for a JWT at the login, and again when it has ended.
      window.seen = [];
      window.zE = (space, command, jwtCallback, loginCallback) => {
        window.seen.push(command);
        if (command === 'logoutUser') return (window.again = undefined);
        window.again = () => jwtCallback((jwt) => { window.seen.push(jwt); loginCallback?.(null); });
        return window.again();
      };""",
    "bootstrap.min.js": """
      window.seen = [];
      window.embeddedservice_bootstrap = { userVerificationAPI: {
        setIdentityToken: ({ identityTokenType, identityToken }) => void window.seen.push(identityTokenType, identityToken),
        clearSession: async (endsSession) => void window.seen.push('clearSession', endsSession),
      } };
      window.again = () => dispatchEvent(new Event('onEmbeddedMessagingIdentityTokenExpired'));
      setTimeout(() => dispatchEvent(new Event('onEmbeddedMessagingReady')));""",
    "web-sdk.js": """
      // What a page leaves behind must outlive it: the sample loads itself again for the next visitor.
      const key = 'seen';
      window.seen = JSON.parse(sessionStorage.getItem(key) ?? '[]');
      const note = (what) => {
        window.seen.push(what);
        sessionStorage.setItem(key, JSON.stringify(window.seen));
      };
      window.zChat = {
        init: ({ account_key, authentication }) => {
          window.again = () => authentication.jwt_fn(note);
          window.again();
        },
        logout: () => note('logout'),
      };""",
}


class Site(http.server.ThreadingHTTPServer):
    """A page's own server: the client, the samples, and a backend that signs for who shows a user's token."""

    daemon_threads = True

    def __init__(self, world):
        super().__init__(("127.0.0.1", 0), Handler)
        self.world, self.signed = world, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def origin(self, host="127.0.0.1"):
        return f"http://{host}:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    TYPES = {"js": "text/javascript", "html": "text/html", "xml": "text/xml", "crx": "application/x-chrome-extension"}

    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/":
            return self.answer(PAGE.encode(), "html")
        if path in ("/identity-token", "/chat-token", "/request"):
            return self.sign(path)
        name = os.path.basename(path)
        if name in STAND_INS:
            return self.answer(STAND_INS[name].encode(), "js")
        folders = {"sdkd": checks.JAVASCRIPT, "extension": self.server.packed}
        first, _, rest = path.lstrip("/").partition("/")
        base, rest = (folders[first], rest) if first in folders else (SAMPLES, path)
        try:
            with open(os.path.join(base, rest.lstrip("/")), "rb") as file:
                text = file.read()
        except OSError:
            return self.send_error(404)
        if name.endswith(".html"):
            # The vendor's own address leads nowhere here. The tests run scripts in the page.
            text = re.sub(rb"https://[^'\"]*/([\w.-]+\.js)", rb"/stand-in/\1", text) + RUNNER.encode()
        return self.answer(text, name.rsplit(".", 1)[-1])

    def sign(self, path):
        """Answers with whose token the request has, as a backend does that has checked it."""
        header = self.headers.get("Authorization", "")
        claims = header.rsplit(".", 2)[1:2]
        if not claims:
            return self.send_error(401)
        user = json.loads(base64.urlsafe_b64decode(claims[0] + "=="))["external_id"]
        self.server.signed.append(user)
        return self.answer(f"signed for {user} by {path} {len(self.server.signed)}".encode(), "html")

    def answer(self, body, kind):
        self.send_response(200)
        self.send_header("Content-Type", self.TYPES.get(kind, "text/plain") + ("" if kind == "crx" else "; charset=utf-8"))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Kiosk:
    """A daemon, two sites, the list of what pages may use, and the files of the browsers."""

    METHODS = ["instance.currentUser", "instance.get", "token.get", "messaging.loginUser", "messaging.logoutUser", "storage.put",
               "storage.get", "delegate.attach"]
    EVENTS = ["userLoggedIn", "userLoggedOut", "authenticationFailed", "identityChanged", "identityWiped", "loginSuperseded"]

    def __init__(self, binaries):
        self.world = World(binaries)
        self.world.start()
        for instance in ("front-desk", "office"):
            self.world.call("instance.create", instance=instance, kind="zendesk.messaging", settings=self.world.settings())
        self.site, self.foreign = Site(self.world), Site(self.world)
        self.sdkctl = os.path.join(binaries, "sdkctl")
        self.list = os.path.join(self.world.folder, "browser.json")
        self.host = os.path.join(self.world.folder, "host")
        self.root = os.path.join(self.world.folder, "root")
        self.packed = self.site.packed = self.foreign.packed = os.path.join(self.world.folder, "packed")
        with open(self.host, "w") as file:
            file.write(f"#!/bin/sh\nexec '{self.sdkctl}' browser host --manifest '{self.list}' --socket '{self.world.socket}' "
                       '-- "$@"\n')
        os.chmod(self.host, 0o755)
        self.allow("front-desk")
        checks.command(self.sdkctl, *self.words("write"), "--root", self.root, "--browser", "firefox")
        # Chromium is forced to install a packed extension.
        key = os.path.join(self.world.folder, "key.pem")
        checks.command("openssl", "genrsa", "-out", key, "2048")
        url = self.site.origin() + "/extension"
        name = checks.command(os.path.join(checks.ROOT, "Packaging", "browser", "pack"), key, url, self.packed).strip()
        checks.command(self.sdkctl, *self.words("write"), "--root", self.root, "--browser", "chromium",
                       "--extension-id", name, "--update-url", url + "/sdkd.xml")
        os.makedirs(self.root + FIREFOX_EXTENSIONS)
        os.symlink(EXTENSION, f"{self.root}{FIREFOX_EXTENSIONS}/sdkd@packages.invalid")

    def words(self, verb):
        return ["browser", verb, "--manifest", self.list, "--host-program", self.host]

    def allow(self, *instances, **more):
        rights = {"instances": list(instances), "methods": self.METHODS, "events": self.EVENTS}
        with open(self.list, "w") as file:
            json.dump({"origins": {self.site.origin(): rights, **more}}, file)

    def hosts(self):
        """The host programs in progress."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if b"host" in words and self.world.socket.encode() in words:
                found.append(int(name))
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for site in (self.site, self.foreign):
            site.shutdown()
            site.server_close()
        self.world.close()


CONNECT = "kept.daemon = await sdkd.connect(); return true;"
USER = "const user = await kept.daemon.instance.currentUser('front-desk'); return user.authenticated ? user.externalId : null;"
LOGIN = "await kept.daemon.messaging.loginUser('front-desk', values[0]);"
#: Follows the events, whose types are kept in their order.
FOLLOW = """
kept.events = kept.daemon.events({ instances: ['front-desk'] });
await kept.events.start();
kept.types = [];
kept.cursors = new Set();
(async () => { for await (const event of kept.events) { kept.types.push(event.type); kept.cursors.add(event.cursor); } })();
"""


def visit(browser, kiosk):
    """A page as a program of the kiosk: sign-in, request, next user, expiry, logout, over restarts of the daemon."""
    world = kiosk.world
    browser.open(kiosk.site.origin() + "/")
    browser.run(CONNECT)
    assert browser.run(USER) is None
    browser.run(FOLLOW)

    def follows(event):
        eventually(f"the page sees {event}", lambda: event in browser.run("return kept.types;"))
        browser.run("kept.types.length = 0;")

    alice, bob = world.mint("alice"), world.mint("bob")
    browser.run(LOGIN, alice)
    follows("userLoggedIn")
    assert browser.run(USER) == "alice"
    token = browser.run("return kept.daemon.token('front-desk', { http: true });")
    assert token["token"] == alice
    answer = browser.run("return await (await fetch('/request', { headers: values[0] })).text();", token["http"]["headers"])
    assert answer.startswith("signed for alice"), answer
    # A text of every kind comes back as it was.
    text = "\u0000\u2028ä\U0001f600\\\"" + "x" * 30_000
    value = browser.run("""await kept.daemon.storage.put('front-desk', 'draft', values[0]);
                           return (await kept.daemon.storage('front-desk', 'draft')).value;""", text)
    assert value == text

    for number in (9, 15):
        world.end(number)
        world.start()
        assert browser.run(USER) == "alice"
    # The events go on by their cursor: this one came while nobody followed.
    browser.run(LOGIN, bob)
    follows("userLoggedIn")
    assert browser.run(USER) == "bob"

    browser.run(LOGIN, world.mint("carol", 5))
    follows("authenticationFailed")
    assert browser.run(USER) is None
    browser.run(LOGIN, alice)
    browser.run("await kept.daemon.messaging.logoutUser('front-desk');")
    follows("userLoggedOut")
    assert browser.run(USER) is None


def attempt(browser):
    return browser.run("try { kept.daemon = await sdkd.connect(); return true; } catch (error) { "
                       "if (error.reason !== 'noDaemon') throw error; return false; }")


def delegate(browser, kiosk):
    """A delegate in the page, which is asked again after a restart."""
    browser.open(kiosk.site.origin() + "/")
    browser.run(CONNECT)
    browser.run(LOGIN, kiosk.world.mint("alice", 600))
    browser.run("""kept.asked = 0;
        kept.attachment = await kept.daemon.attach(['front-desk'], ({ user }) => { kept.asked += 1; return { token: values[0] }; });""",
                kiosk.world.mint("alice"))
    for expected in (1, 2):
        kiosk.world.call("token.refresh", instance="front-desk")
        assert browser.run("return kept.asked;") == expected
        if expected == 1:
            kiosk.world.end(9)
            kiosk.world.start()
            eventually("the delegate is attached again", lambda: browser.run("return kept.attachment.status.state;") == "attached"
                       and kiosk.world.call("instance.get", instance="front-desk")["bridge"]["attached"])
    browser.run("await kept.attachment.detach(); await kept.daemon.messaging.logoutUser('front-desk'); kept.daemon.close();")


def refusals(browser, kiosk):
    """What a page may not: unlisted things, as a foreign page, and while there is no daemon."""
    browser.open(kiosk.site.origin() + "/")
    browser.run(CONNECT)
    for text in ("await kept.daemon.instance.currentUser('office');", "await kept.daemon.instance.currentUser('nothing');",
                 "await kept.daemon.instance.list();", "await kept.daemon.daemon.info();", "await kept.daemon.call('rpc.discover');",
                 "await kept.daemon.token.refresh('front-desk');", "await kept.daemon.events({ instances: ['office'] }).start();",
                 "await kept.daemon.events({ types: ['tokenRefreshed'] }).start();",
                 "await kept.daemon.attach(['office'], () => undefined);"):
        error = browser.fails(text)
        assert error.reason == "accessDenied" and kiosk.site.origin() in error.message, f"{text}: {error}"
    # The page can say nothing that counts as an origin, and no message is too large for it to hear of.
    error = browser.fails("await kept.daemon.storage.put('front-desk', 'k', 'x'.repeat(2 << 20), { deadline: 20 });")
    assert error.reason in ("invalidRequest", "outcomeUnknown"), error
    assert browser.run(USER) is None
    # A listed instance that is not there looks as one that is hidden.
    kiosk.allow("front-desk", "ghost")
    error = browser.fails("const daemon = await sdkd.connect(); await daemon.instance.currentUser('ghost');")
    assert error.reason == "instanceNotFound", error
    kiosk.allow("front-desk")

    # The same host at another port: the script is in the page, the extension refuses its origin.
    browser.open(kiosk.foreign.origin() + "/")
    error = browser.fails(CONNECT)
    assert error.reason == "accessDenied" and kiosk.foreign.origin() in error.message, error
    # Another host: nothing of the extension is there.
    browser.open(kiosk.foreign.origin("localhost") + "/")
    error = browser.fails(CONNECT)
    assert error.reason == "noDaemon" and "No extension" in error.message, error

    browser.open(kiosk.site.origin() + "/")
    kiosk.world.end()
    error = browser.fails(CONNECT)
    assert error.reason == "noDaemon" and "No daemon answers" in error.message, error
    kiosk.world.start()
    browser.run(CONNECT)
    # A list with a mistake lists nothing.
    with open(kiosk.list, "w") as file:
        file.write("{")
    error = browser.fails(CONNECT)
    assert error.reason == "invalidConfiguration" and "browser check" in error.message, error
    kiosk.allow("front-desk")
    # A page with many connections is told so, and a page that goes leaves none behind.
    error = browser.fails("kept.all = []; for (;;) kept.all.push(await sdkd.connect());")
    assert error.reason == "tooManyCalls", error
    browser.open(kiosk.foreign.origin() + "/")
    eventually("no host of the page is left", lambda: not kiosk.hosts())


def vendors(browser, kiosk):
    """The samples, with a stand-in for each vendor's script."""
    def seen():
        try:
            return list(map(str, browser.run("return window.seen ?? [];")))
        except AssertionError:
            return []  # The page is loading itself again.

    def shows(*texts):
        eventually(f"the stand-in has {texts}", lambda: seen()[-len(texts):] == list(texts))

    def fresh():
        try:
            return browser.run("return window.again === undefined;")
        except AssertionError:
            return False

    def last():
        return (seen() or [""])[-1]

    def log_in(user):
        jwt = kiosk.world.mint(user)
        kiosk.world.call("messaging.loginUser", instance="front-desk", jwt=jwt)
        return jwt

    def log_out():
        kiosk.world.call("messaging.logoutUser", instance="front-desk")

    browser.open(f"{kiosk.site.origin()}/zendesk-messaging.html")
    alice = log_in("alice")
    shows("loginUser", alice)
    browser.run("window.again();")
    shows("loginUser", alice, alice)
    bob = log_in("bob")
    shows("logoutUser", "loginUser", bob)
    log_out()
    shows(bob, "logoutUser")

    log_in("alice")
    browser.open(f"{kiosk.site.origin()}/salesforce-web-chat.html")
    eventually("a JWT is set", lambda: last().startswith("signed for alice by /identity-token"))
    assert seen()[0] == "JWT"
    browser.run("window.again();")
    eventually("another JWT is set", lambda: len(seen()) == 4)
    log_in("bob")
    eventually("the next user has a JWT", lambda: last().startswith("signed for bob"))
    assert seen()[4:6] == ["clearSession", "True"], seen()
    log_out()
    shows("clearSession", "True")

    browser.open(f"{kiosk.site.origin()}/zendesk-chat.html")
    log_in("alice")
    eventually("jwt_fn has answered", lambda: last().startswith("signed for alice by /chat-token"))
    browser.run("window.again();")
    eventually("jwt_fn has answered again", lambda: len(seen()) == 2)
    log_in("bob")
    eventually("the next visitor has a page", lambda: last().startswith("signed for bob"))
    assert seen()[2] == "logout", seen()
    log_out()
    # The page loads itself again, which would take the place of the next one.
    eventually("nobody has a page", lambda: last() == "logout" and fresh())


#: Connects as the samples do. Returns the number of attempts before the first problem is reported.
ATTEMPTS = """
const { connected } = await import(`${location.origin}/kiosk.js`);
const post = window.postMessage;
let attempts = 0;
window.postMessage = (...all) => {
  attempts += 1;
  post.apply(window, all);
};
return await new Promise((resolve) => connected(() => resolve(attempts)));
"""


def front_desk(browser, kiosk):
    """The sample with buttons: who is signed in, whose credential has expired, and what it says when something is missing."""
    def of(element):
        return browser.run(f"const element = document.getElementById('{element}'); "
                           "return element.hidden ? 'hidden' : element.textContent;")

    def shows(text, *buttons):
        # The page shows all of it at once.
        eventually(f"the desk shows {text}", lambda: of("user") == text)
        assert [of(name) for name in ("login", "logout")] == list(buttons), text

    def click(selector):
        browser.run("document.querySelector(values[0]).click();", selector)

    def log_in(user, ttl=3600):
        kiosk.world.call("messaging.loginUser", instance="front-desk", jwt=kiosk.world.mint(user, ttl))

    browser.open(f"{kiosk.site.origin()}/front-desk.html")
    shows("Please sign in", "Sign in", "hidden")
    browser.run("document.querySelector('[name=jwt]').value = values[0];", kiosk.world.mint("carol"))
    click("#login button")
    shows("carol", "hidden", "Sign out")
    click("#logout")
    shows("Please sign in", "Sign in", "hidden")
    # A person whose credential has expired still has a name, and can leave.
    log_in("eve", 3)
    shows("Please sign in again, eve", "Sign in", "Sign out")
    click("#logout")
    shows("Please sign in", "Sign in", "hidden")
    assert kiosk.world.call("instance.get", instance="front-desk")["state"] == "loggedOut"

    # The page waits for the daemon, and for an extension that is late, before it reports a problem. It says so meanwhile.
    kiosk.world.end()
    browser.open(kiosk.site.origin() + "/")
    assert browser.run(ATTEMPTS) > 1
    assert ">Waiting for the browser extension" in browser.run("return await (await fetch('/front-desk.html')).text();")
    browser.open(f"{kiosk.site.origin()}/front-desk.html")
    eventually("the desk shows the error", lambda: "(noDaemon: No daemon answers" in of("note"))
    kiosk.world.start()
    shows("Please sign in", "Sign in", "hidden")
    assert of("note") == ""
    # What the administrator must repair is on the page at once.
    with open(kiosk.list, "w") as file:
        file.write("{")
    browser.open(f"{kiosk.site.origin()}/front-desk.html")
    eventually("the desk shows the error", lambda: "(invalidConfiguration: The list of" in of("note"))
    kiosk.allow("front-desk")

    # Without the vendor, too, the desk becomes free for the next person. This comes last: nothing replaces the vendor.
    browser.open(f"{kiosk.site.origin()}/front-desk.html")
    log_in("alice")
    shows("alice", "hidden", "Sign out")
    kiosk.world.sandbox.kill()
    kiosk.world.sandbox.wait()
    click("#logout")
    shows("Please sign in", "Sign in", "hidden")


PARTS = [("signs in and out, and follows over restarts", visit), ("keeps a delegate over a restart", delegate),
         ("is refused what is not listed", refusals), ("feeds the vendors' widgets", vendors),
         ("shows an expired user, signs out without the vendor, and says what is missing", front_desk)]


def pages(binaries):
    for name, kind in BROWSERS.items():
        state = {}

        def begin(name=name, kind=kind, state=state):
            state["kiosk"] = Kiosk(binaries)
            state["browser"] = kind(state["kiosk"].root)
            # The browser may load its first page before the extension, and installs that a while after its start.
            state["browser"].open(state["kiosk"].site.origin() + "/")
            eventually("the extension answers", lambda: attempt(state["browser"]))

        def part(work, state=state):
            assert "browser" in state, "the browser has not started"
            work(state["browser"], state["kiosk"])

        def end(state=state):
            try:
                state["browser"].close()
                eventually("no host outlives its browser", lambda: not state["kiosk"].hosts())
            finally:
                if "kiosk" in state:
                    state["kiosk"].__exit__()

        yield f"{name} starts with the extension", begin
        for title, work in PARTS:
            yield f"a page in {name} {title}", functools.partial(part, work)
        yield f"{name} leaves no host program behind", end

    yield "Chromium loads the extension of the package", functools.partial(unpacked, binaries)
    yield "sdkctl browser checks what it has written", functools.partial(written, binaries)
    yield "the host ends with its browser, and says what is wrong", functools.partial(frames, binaries)


def unpacked(binaries):
    with Kiosk(binaries) as kiosk:
        checks.command(kiosk.sdkctl, *kiosk.words("write"), "--root", kiosk.root)
        # As Debian's start script does for what is in /usr/share/chromium/extensions.
        browser = BROWSERS["Chromium"](kiosk.root, f"--load-extension={EXTENSION}")
        try:
            browser.open(kiosk.site.origin() + "/")
            eventually("the extension answers", lambda: attempt(browser))
        finally:
            browser.close()


def unreadable(kiosk):
    """A list in a folder that the browser's user may not enter."""
    folder = os.path.join(kiosk.world.folder, "closed")
    os.mkdir(folder, 0o700)
    path = os.path.join(folder, "browser.json")
    shutil.copy(kiosk.list, path)

    def run(before, verb, *words, input=b""):
        line = [*before, kiosk.sdkctl, "browser", verb, "--manifest", path, "--socket", kiosk.world.socket, *words]
        return subprocess.run(line, input=input, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)

    other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = run(other, "check")
    obstacle, hint = f"may not enter the folder {folder}.".encode(), f"hint: chmod o+x {folder}\n".encode()
    assert done.returncode == 1 and obstacle in done.stderr and hint in done.stderr, done
    first = json.dumps({"sdkd": "origin", "origin": kiosk.site.origin()}).encode()
    done = run(other, "host", input=struct.pack("=I", len(first)) + first)
    assert b'"reason":"invalidConfiguration"' in done.stdout and obstacle in done.stdout and hint in done.stderr, done
    # Root can read it, and is warned that others can't.
    done = run([], "check", "--host-program", kiosk.host, "--root", kiosk.root, "-o", "json")
    assert done.returncode == 0 and b"others " + obstacle in done.stdout, done


def written(binaries):
    with Kiosk(binaries) as kiosk:
        words = [*kiosk.words("check"), "--socket", kiosk.world.socket, "-o", "json"]

        def check(status, *texts):
            done = subprocess.run([kiosk.sdkctl, *words, "--root", kiosk.root], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, timeout=60)
            assert done.returncode == status, done
            for text in texts:
                assert text in done.stdout + done.stderr, f"{text} is not in {done}"

        # The packed extension has another id.
        checks.command(kiosk.sdkctl, *kiosk.words("write"), "--root", kiosk.root)
        # The host is below the root, too.
        os.makedirs(os.path.dirname(kiosk.root + kiosk.host), exist_ok=True)
        os.symlink(kiosk.host, kiosk.root + kiosk.host)
        check(0, "It has all listed instances and methods.")
        kiosk.allow("front-desk", "ghost")
        check(1, "There is no instance ghost for you", "Rules with unit: count only inside that unit")
        kiosk.allow("front-desk", **{"https://other.example": {"instances": ["front-desk"], "methods": ["messaging.nothing"]}})
        check(1, "is not what sdkctl browser write would write", "The daemon has no method messaging.nothing")
        kiosk.allow("front-desk", **{"http://other.example": {"instances": ["front-desk"]}})
        check(78, "http:// is for localhost and 127.0.0.1 only")
        kiosk.allow("front-desk")
        os.chmod(kiosk.list, 0o666)
        check(1, "can be changed by others")
        os.chmod(kiosk.list, 0o644)
        if os.geteuid() == 0:
            unreadable(kiosk)
        kiosk.world.end()
        check(1, "No daemon answers")
        kiosk.world.start()


def frames(binaries):
    def frame(value):
        text = json.dumps(value).encode()
        return struct.pack("=I", len(text)) + text

    with Kiosk(binaries) as kiosk:
        origin = {"sdkd": "origin", "origin": kiosk.site.origin()}

        class Host:
            def __init__(self, *first):
                self.process = subprocess.Popen([kiosk.host, "chrome-extension://x/"], stdin=subprocess.PIPE,
                                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for part in first:
                    self.write(part)

            def write(self, part):
                self.process.stdin.write(part if isinstance(part, bytes) else frame(part))
                self.process.stdin.flush()

            def read(self):
                length = self.process.stdout.read(4)
                return json.loads(self.process.stdout.read(struct.unpack("=I", length)[0])) if length else None

            def ends(self):
                self.process.stdin.close()
                rest = self.process.stdout.read()
                self.process.wait(60)
                self.process.stdout.close()
                self.process.stderr.close()
                return rest

        call = {"jsonrpc": "2.0", "id": 1, "method": "instance.currentUser", "params": {"instance": "front-desk"}}
        host = Host(frame(origin) + frame(call))
        assert host.read() == {"sdkd": "open"}
        assert host.read()["result"]["authenticated"] is False
        # The end of the input ends it, though the daemon still works on a call.
        host.write({"jsonrpc": "2.0", "id": 2, "method": "events.subscribe", "params": {}})
        assert host.read()["result"]["subscription"]
        host.ends()
        # A length that no message has ends it with a reason, before the bytes come.
        host = Host(origin, struct.pack("=I", 0xFFFFFFFF))
        assert host.read() == {"sdkd": "open"}
        assert "larger than 1 MiB" in host.read()["error"]["message"]
        assert host.read() is None
        host.ends()
        # A frame that is cut by the end of the browser does nothing.
        assert Host(origin, frame(call)[:-1]).ends().endswith(b'{"sdkd":"open"}')
        assert Host(struct.pack("=I", 5)).ends() == b""
        assert Host().ends() == b""
        for first, reason in (({}, "badAnswer"), ([], "badAnswer"), ({"sdkd": "origin", "origin": 1}, "badAnswer"),
                              (struct.pack("=I", 0xFFFFFFFF), "input"), (struct.pack("=I", 0), "badAnswer"),
                              (struct.pack("=I", 3) + b"{}}", "badAnswer"),
                              ({"origin": "null"}, "accessDenied"), ({"origin": kiosk.foreign.origin()}, "accessDenied"),
                              ({"origin": kiosk.site.origin() + "/"}, "accessDenied")):
            host = Host(first)
            answer = host.read()
            assert (answer["sdkd"], answer["reason"]) == ("refused", reason), (first, answer)
            assert host.read() is None
            host.ends()
        # The daemon's end ends it.
        host = Host(origin)
        assert host.read() == {"sdkd": "open"}
        kiosk.world.end()
        assert host.read() is None
        host.ends()
        kiosk.world.start()
        eventually("no host is left", lambda: not kiosk.hosts())


CHECKS = {"pages": pages}
