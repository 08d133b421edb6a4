"""Messaging instances with a socket over TLS each: memory, and a cached token of another instance while all of them
reconnect, against the same with nothing else going on. nginx stands before the sandbox as the vendor's TLS; both run with
the lowest priority, as vendors run on other machines. Needs nginx and openssl."""
import os, shutil, socket, subprocess, time

from programs import SETTLING, Client, token_get, wait

INSTANCES = 500

CONFIGURATION = """
daemon off; master_process off; worker_rlimit_nofile 8192; pid {folder}/nginx.pid; error_log /dev/null;
events {{ worker_connections 4096; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  map $http_upgrade $upgraded {{ default upgrade; "" ""; }}
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {folder}/own.pem; ssl_certificate_key {folder}/own.key;
    location / {{
      proxy_pass {vendor}; proxy_http_version 1.1; proxy_read_timeout 1h; proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $upgraded;
    }}
  }}
}}
"""


class Front:
    """nginx before the sandbox."""

    def __init__(self, programs):
        self.programs = programs
        self.folder = programs.path("nginx")
        os.mkdir(self.folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
             "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
             self.path("own.key"), "-out", self.path("own.pem")], check=True, capture_output=True)
        # As many authorities as the system's, and this one.
        with open(self.path("ca.pem"), "w") as file:
            for part in ("/etc/ssl/certs/ca-certificates.crt", self.path("own.pem")):
                file.write(open(part).read())
        vendor = programs.settings["base_url"].removesuffix("/zm")
        with open(self.path("nginx.conf"), "w") as file:
            file.write(CONFIGURATION.format(folder=self.folder, port=self.port, vendor=vendor))

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self):
        self.process = self.programs.start("nice", "-n", "19", "nginx", "-c", self.path("nginx.conf"))
        wait(self.listens, "nginx")

    def stop(self):
        self.programs.stop(self.process)

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        except OSError:
            return False

    def connected(self):
        """How many TLS connections there are at nginx."""
        lines = open("/proc/net/tcp").read().splitlines()[1:]
        here = f"0100007F:{self.port:04X}"
        return sum(1 for line in lines if line.split()[1] == here and line.split()[3] == "01")


def run(programs, results):
    if not shutil.which("nginx"):
        print("secure: nginx is not installed")
        return
    # Priorities belong to threads.
    for thread in os.listdir(f"/proc/{programs.sandbox.pid}/task"):
        os.setpriority(os.PRIO_PROCESS, int(thread), 19)
    front = Front(programs)
    front.start()
    daemon = programs.daemon("secure")
    daemon.start()
    daemon.sign_in("quiet")
    place = f"localhost:{front.port}/zm"
    settings = dict(
        programs.settings, base_url=f"https://{place}", realtime_url=f"wss://{place}/faye", ca_file=front.path("ca.pem"))

    def connect(first, count):
        client = Client(daemon.path)
        for number in range(first, first + count):
            name = f"tls{number}"
            client.call("instance.create", instance=name, kind="zendesk.messaging", settings=settings)
            client.call("messaging.loginUser", instance=name, jwt=programs.mint(name, 36000))
        client.close()
        # Connections of HTTP are closed soon after.
        wait(lambda: front.connected() == first + count, "the sockets", 180)

    connect(0, 10)
    time.sleep(SETTLING)
    few = daemon.resident
    connect(10, INSTANCES - 10)
    time.sleep(SETTLING)
    each = (daemon.resident - few) / (INSTANCES - 10)
    print(f"memory: {each:.1f} KiB for each of {INSTANCES} instances connected over wss")

    def quiet():
        wait(lambda: front.connected() >= INSTANCES, "the sockets", 300)
        return programs.load(daemon.path, 1, token_get("quiet"))

    def reconnecting():
        front.stop()
        wait(lambda: front.connected() == 0, "the end of the sockets")
        front.start()
        return programs.load(daemon.path, 1, token_get("quiet"))

    figures = programs.rounds({"quiet": quiet, "reconnecting": reconnecting})
    ratios = {key: figures["reconnecting"][key] / figures["quiet"][key] for key in ("p50", "p99")}
    results["secure"] = {"instances": INSTANCES, "per_instance_kib": each, **figures, "ratios": ratios}
    print(
        f"a cached token while {INSTANCES} reconnect: p50 {ratios['p50']:.2f} x, p99 {ratios['p99']:.2f} x of quiet "
        f"({figures['quiet']['p99']:.0f} us)")
    daemon.stop()
    front.stop()
