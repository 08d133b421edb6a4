"""glewlwyd on a port of loopback as an OAuth 2 server that rotates refresh tokens: glewlwyd.py FOLDER PORT

Makes its database in FOLDER, configures it, writes "ready" to standard output, and ends when standard input does.
The user "desk" has the password "desk-password"; the client "desk-app" has the secret "desk-secret".
"""
import json, sqlite3, subprocess, sys, time, urllib.error, urllib.request

folder, port = sys.argv[1], sys.argv[2]
url = f"http://127.0.0.1:{port}"

with open("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3") as script:
    database = sqlite3.connect(f"{folder}/glewlwyd.db")
    database.executescript(script.read())
    database.close()
with open(f"{folder}/glewlwyd.conf", "w") as file:
    file.write(f"""
port={port}
bind_address="127.0.0.1"
external_url="{url}"
api_prefix="api"
log_mode="file"
log_level="INFO"
log_file="{folder}/glewlwyd.log"
cookie_secure=0
session_expiration=3600
session_key="session"
admin_scope="g_admin"
profile_scope="g_profile"
user_module_path="/usr/lib/glewlwyd/user"
client_module_path="/usr/lib/glewlwyd/client"
user_auth_scheme_module_path="/usr/lib/glewlwyd/scheme"
plugin_module_path="/usr/lib/glewlwyd/plugin"
hash_algorithm="SHA512"
database={{ type="sqlite3"; path="{folder}/glewlwyd.db"; }};
""")

# It does not outlive this process, however that ends.
server = subprocess.Popen(
    ["setpriv", "--pdeathsig", "KILL", "glewlwyd", f"--config-file={folder}/glewlwyd.conf"], stdin=subprocess.DEVNULL)
cookie = ""


def call(method, path, body=None):
    global cookie
    request = urllib.request.Request(
        f"{url}/api/{path}", method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "Cookie": cookie})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            cookie = (answer.headers.get("Set-Cookie") or cookie).split(";")[0]
    except urllib.error.HTTPError as error:
        sys.exit(f"{method} {path}: {error} {error.read().decode()}")


def is_up():
    try:
        urllib.request.urlopen(url + "/config/", timeout=5)
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


try:
    while not is_up():
        if server.poll() is not None:
            sys.exit(f"glewlwyd ended with {server.returncode}")
        time.sleep(0.05)
    call("POST", "auth/", {"username": "admin", "password": "password"})
    call("POST", "scope", {"name": "desk", "display_name": "desk", "password_required": False})
    call("POST", "user", {
        "username": "desk", "name": "desk", "password": "desk-password", "enabled": True,
        "scope": ["openid", "desk"]})
    call("POST", "client", {
        "client_id": "desk-app", "name": "desk", "confidential": True, "enabled": True,
        "client_secret": "desk-secret", "password": "desk-secret", "scope": ["openid", "desk"],
        "redirect_uri": ["http://localhost:4242"], "authorization_type": ["password", "refresh_token"],
        "token_endpoint_auth_method": ["client_secret_post", "client_secret_basic"]})
    call("POST", "mod/plugin/", {
        "module": "oidc", "name": "oidc", "display_name": "oidc", "parameters": {
            "iss": url + "/api/oidc", "jwt-type": "sha", "jwt-key-size": "256",
            "key": "a key of the tests only, at least this long",
            "access-token-duration": 3600, "refresh-token-duration": 86400, "code-duration": 600,
            "refresh-token-rolling": False, "refresh-token-one-use": "always", "allow-non-oidc": True,
            "auth-type-code-enabled": True, "auth-type-password-enabled": True, "auth-type-refresh-enabled": True,
            "auth-type-implicit-enabled": False, "auth-type-client-enabled": False, "auth-type-token-enabled": False,
            "auth-type-id-token-enabled": True, "auth-type-none-enabled": False,
            "introspection-revocation-allowed": True, "introspection-revocation-allow-target-client": True}})
    print("ready", flush=True)
    sys.stdin.read()
finally:
    server.kill()
