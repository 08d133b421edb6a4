"""A cached `token.get` against a bare C echo, redis and ovsdb-server's own JSON-RPC."""
import shutil, subprocess

from programs import answers, token_get, wait


def run(programs, results):
    daemon = programs.daemon("throughput")
    daemon.start()
    daemon.sign_in("bench")
    request = token_get("bench")
    size = programs.answer_size(daemon.path, request)
    yardsticks = {"sdkd": (daemon.path, request, "\n"), **echo(programs, size, request), **redis(programs, size)}
    yardsticks |= ovsdb(programs, size)
    print(f"token.get of {size} bytes, {programs.arguments.rounds} alternating rounds of {programs.arguments.seconds} s")
    for connections in (1, 50):
        figures = programs.rounds({
            name: lambda yardstick=yardstick: programs.load(yardstick[0], connections, *yardstick[1:])
            for name, yardstick in yardsticks.items()})
        results[f"connections_{connections}"] = figures
        for name, f in figures.items():
            print(f"  {connections:3} connections  {name:6} {f['rate']:9.0f}/s  p50 {f['p50']:7.1f} us  p99 {f['p99']:7.1f} us")
        own = figures["sdkd"]
        for name, f in figures.items():
            if name != "sdkd":
                print(
                    f"       sdkd / {name}: throughput {own['rate'] / f['rate']:.2f}, p50 {own['p50'] / f['p50']:.2f}, "
                    f"p99 {own['p99'] / f['p99']:.2f}")
    daemon.stop()


def echo(programs, size, request):
    path = programs.path("echo.sock")
    programs.start(programs.path("echo"), path, str(size), stdout=subprocess.DEVNULL)
    wait(lambda: answers(path), "echo")
    return {"echo": (path, request, "\n")}


def redis(programs, size):
    if not shutil.which("redis-server"):
        return {}
    path = programs.path("redis.sock")
    programs.start(
        "redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no",
        stdout=subprocess.DEVNULL)
    wait(lambda: answers(path), "redis")
    subprocess.run(["redis-cli", "-s", path, "set", "t", "x" * size], check=True, stdout=subprocess.DEVNULL)
    return {"redis": (path, "*2\\r\\n$3\\r\\nGET\\r\\n$1\\r\\nt\\r\\n", "\n")}


def ovsdb(programs, size):
    """Debian's openvswitch-switch or ovsdb-server package; its `echo`, with an answer as long as sdkd's."""
    if not (shutil.which("ovsdb-server") and shutil.which("ovsdb-tool")):
        return {}
    path, database, schema = (programs.path(f"ovsdb.{end}") for end in ("sock", "db", "schema"))
    with open(schema, "w") as file:
        file.write('{"name":"bench","version":"1.0.0","tables":{"t":{"columns":{"c":{"type":"string"}}}}}')
    subprocess.run(["ovsdb-tool", "create", database, schema], check=True)
    programs.start(
        "ovsdb-server", f"--remote=punix:{path}", f"--unixctl={programs.path('ovsdb.ctl')}", "--no-chdir", database,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait(lambda: answers(path), "ovsdb-server")

    def request(count):
        return '{"method":"echo","id":1,"params":["' + "x" * count + '"]}\\n'

    return {"ovsdb": (path, request(size - programs.answer_size(path, request(0))), "}")}
