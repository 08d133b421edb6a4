"""Headless Chromium over WebDriver, and headless Firefox over Marionette."""
import itertools, json, os, shutil, signal, socket, subprocess, tempfile, urllib.request

import checks
from world import PATIENCE, eventually

EXTENSION = os.path.join(checks.ROOT, "Packaging", "browser", "extension")
#: Where Debian's Firefox finds the extension of the package. It needs no signature there.
FIREFOX_EXTENSIONS = "/usr/share/mozilla/extensions/{ec8030f7-c20a-464f-9b0e-13a3a9e97384}"
#: Runs a script in the page, which has the function `run` once it is loaded.
RUN = """
const [text, values, done] = arguments;
const wait = () => (window.run ? window.run(text, values).then(done) : setTimeout(wait, 10));
wait();
"""


class PageError(Exception):
    """What a script in the page threw."""

    def __init__(self, error):
        super().__init__(error)
        self.reason, self.message = error.get("reason"), error.get("message")


class Browser:
    """A browser with the extension, and the files of `sdkctl browser write` in `root` in place of the machine's."""

    #: The directories of the machine that the files are in.
    FOLDERS = ()

    def __init__(self, root):
        self.folder = tempfile.mkdtemp(prefix="sdkd-browser-")
        self.log = open(os.path.join(self.folder, "log"), "wb+")
        # Only this process and its children see the files.
        mounts = "".join(f"mount --bind '{root}{folder}' '{folder}' && " for folder in self.FOLDERS)
        words = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c",
                 f"mount --make-rprivate / && {mounts} exec \"$@\"", "sh", *self.words()]
        environment = {**os.environ, "HOME": self.folder, "XDG_CONFIG_HOME": self.folder, "MOZ_HEADLESS": "1",
                       "XDG_RUNTIME_DIR": self.folder, "DBUS_SESSION_BUS_ADDRESS": "disabled:"}
        self.process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        start_new_session=True)

    def run(self, text, *values):
        """Runs the body of an asynchronous function in the page. Returns its result. Raises `PageError`."""
        found = self.script(RUN, [text, list(values)])
        assert found is not None, "the page is loading itself again"
        answer = json.loads(found)
        if "error" in answer:
            raise PageError(answer["error"])
        return answer["result"]

    def fails(self, text, *values):
        """Runs a script that must throw. Returns the error."""
        try:
            result = self.run(text, *values)
        except PageError as error:
            return error
        raise AssertionError(f"it succeeded: {result}")

    def messages(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")[-3000:]

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Chromium(Browser):
    FOLDERS = ("/etc/chromium",)

    def words(self):
        return ["/usr/bin/chromedriver", "--port=0", "--log-level=WARNING"]

    def __init__(self, root, *more):
        super().__init__(root)
        self.session = None
        port = eventually("chromedriver says its port", self.port)
        self.url = f"http://127.0.0.1:{port}/session"
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/profile", "--no-first-run",
                 *more]
        # Without the first, no extension is loaded; without the second, none is downloaded.
        without = ["disable-extensions", "disable-background-networking"]
        options = {"binary": "/usr/bin/chromium", "args": flags, "excludeSwitches": without}
        made = self.ask("POST", "", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})
        self.session = made["sessionId"]
        self.ask("POST", "/timeouts", {"script": PATIENCE * 1000})

    def port(self):
        found = [line for line in self.messages().splitlines() if "successfully on port" in line]
        return found and found[0].rstrip(".").split()[-1]

    def ask(self, method, path, body=None):
        url = self.url + (f"/{self.session}" if self.session else "") + path
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=2 * PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()[:2000]}\n{self.messages()}")

    def open(self, url):
        self.ask("POST", "/url", {"url": url})

    def script(self, text, arguments):
        return self.ask("POST", "/execute/async", {"script": text, "args": arguments})

    def close(self):
        try:
            if self.session:
                self.ask("DELETE", "")
        finally:
            super().close()


class Firefox(Browser):
    FOLDERS = ("/usr/lib/mozilla", "/usr/share/mozilla/extensions")
    PREFERENCES = {"marionette.port": 0, "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False,
                   "app.update.enabled": False, "browser.startup.page": 0, "toolkit.startup.max_resumed_crashes": -1}

    def words(self):
        profile = os.path.join(self.folder, "profile")
        os.mkdir(profile)
        with open(os.path.join(profile, "user.js"), "w") as file:
            file.writelines(f'user_pref("{name}", {json.dumps(value)});\n' for name, value in self.PREFERENCES.items())
        return ["/usr/bin/firefox-esr", "--headless", "--marionette", "--no-remote", "--profile", profile]

    def __init__(self, root):
        super().__init__(root)
        self.ids = itertools.count(1)
        path = os.path.join(self.folder, "profile", "MarionetteActivePort")
        port = eventually("Firefox says its port", lambda: self.has_begun(path) and open(path).read().strip())
        self.socket = socket.create_connection(("127.0.0.1", int(port)), timeout=2 * PATIENCE)
        self.bytes = self.socket.makefile("rb")
        self.read()
        self.ask("WebDriver:NewSession", capabilities={"alwaysMatch": {"timeouts": {"script": PATIENCE * 1000}}})

    def has_begun(self, path):
        assert self.process.poll() is None, f"Firefox has ended: {self.messages()}"
        return os.path.exists(path)

    def read(self):
        length = b""
        while (byte := self.bytes.read(1)) != b":":
            assert byte, f"Firefox has closed the connection: {self.messages()}"
            length += byte
        return json.loads(self.bytes.read(int(length)))

    def ask(self, command, **params):
        text = json.dumps([0, next(self.ids), command, params]).encode()
        self.socket.sendall(str(len(text)).encode() + b":" + text)
        _, _, error, result = self.read()
        assert error is None, f"{command}: {error['error']}: {error['message']}"
        return result

    def open(self, url):
        self.ask("WebDriver:Navigate", url=url)

    def script(self, text, arguments):
        return self.ask("WebDriver:ExecuteAsyncScript", script=text, args=arguments, newSandbox=True)["value"]

    def close(self):
        try:
            self.bytes.close()
            self.socket.close()
        finally:
            super().close()


BROWSERS = {"Chromium": Chromium, "Firefox": Firefox}
