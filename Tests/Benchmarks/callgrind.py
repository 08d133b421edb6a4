"""Instructions by callgrind: of a warm `token.get`, of `sdkctl token`, of starts, of pages of `instance.list`, of its numbers for
`sdkctl status`, and of logins. See `instructions`."""
import collections, os, re, shutil, signal, socket, subprocess, time

from programs import ROOT, Client, answers, token_get, wait
import throughput

FEW, MANY, ROUNDS = 500, 2500, 5
ALLOCATIONS = {"malloc", "calloc", "posix_memalign", "aligned_alloc"}


def counts(path):
    """The instructions of each function itself, and how often each was called, from callgrind's file."""
    names, own, calls, function, is_call = {}, collections.Counter(), collections.Counter(), None, False

    def name(text):
        number, _, rest = text.partition(" ")
        if rest:
            names[number] = rest
        return names[number]

    with open(path) as file:
        for line in file:
            if line.startswith("fn="):
                function = name(line[3:].rstrip())
            elif line.startswith("cfn="):
                called = name(line[4:].rstrip())
            elif line.startswith("calls="):
                calls[called] += int(line[6:].split()[0])
                is_call = True
            elif function and line[0] in "+-*0123456789":
                if not is_call:
                    own[function] += int(line.split()[1])
                is_call = False
    return own, calls


def stripped(programs, name, program):
    """A copy for valgrind, which does not read all that the compiler writes for debuggers."""
    copy = programs.path(f"{name}.stripped")
    subprocess.run(["strip", "-g", "-o", copy, program], check=True)
    return copy


def run_once(programs, name, program, *words, **environment):
    """What a command costs from start to end: the instructions of each function, and the calls of each."""
    out = programs.path(f"{name}.counts")
    subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", stripped(programs, name, program), *words],
        check=True, capture_output=True, env=dict(os.environ, **environment))
    return counts(out)


def measured(programs, name, command, path, request, few=FEW, many=MANY):
    """What one call costs: the instructions of each function, and the calls of each."""
    out = programs.path(f"{name}.counts")
    process = programs.start(
        "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", stripped(programs, name, command[0]), *command[1:],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait(lambda: answers(path), name, 600)
    line = socket.socket(socket.AF_UNIX)
    line.connect(path)
    file = line.makefile("rwb")

    def call(count):
        for _ in range(count):
            file.write(request)
            file.flush()
            answer = file.readline()
        return len(answer)

    def control(word):
        subprocess.run(["callgrind_control", word, str(process.pid)], check=True, capture_output=True)

    # The first calls are answered once the start is over. They also do what is done once.
    size = call(few)
    wait(lambda: is_idle(process.pid), f"{name} to have nothing to do", 600)
    control("--zero")
    for _ in range(ROUNDS):
        for count in (few, many):
            call(count)
            control("--dump")
    line.close()
    process.send_signal(signal.SIGTERM)
    process.wait(120)
    programs.running.remove(process)
    os.path.exists(path) and os.unlink(path)
    # Each dump counts from the one before. Timers only add to a count, so the smallest ones have the least of them.
    (few_own, few_calls), (many_own, many_calls) = (
        min((counts(f"{out}.{number}") for number in range(first, 2 * ROUNDS + 1, 2)), key=lambda found: sum(found[0].values()))
        for first in (1, 2))
    each = lambda after, before: {key: (after[key] - before[key]) / (many - few) for key in after}
    return collections.Counter(each(many_own, few_own)), each(many_calls, few_calls), size


def is_idle(process):
    """Whether no thread of a process wants a processor during a second, apart from timers."""
    def running():
        for thread in os.listdir(f"/proc/{process}/task"):
            try:
                with open(f"/proc/{process}/task/{thread}/stat") as file:
                    if file.read().rpartition(")")[2].split()[0] == "R":
                        return True
            except OSError:
                pass
        return False

    found = 0
    for _ in range(50):
        found += running()
        time.sleep(0.02)
    return found <= 5


def start(programs, daemon):
    """What a daemon costs from its start to its end, with a single call: its instructions."""
    out = programs.path("start.counts")
    process = programs.start(
        "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", stripped(programs, "sdkd", programs.program("sdkd")),
        *daemon.arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait(lambda: answers(daemon.path), "sdkd", 600)
    # The answer waits until all instances are restored.
    client = Client(daemon.path)
    client.call("instance.list", limit=1)
    client.close()
    process.send_signal(signal.SIGTERM)
    process.wait(120)
    programs.running.remove(process)
    return sum(counts(out)[0].values())


def logins(programs, few=32, many=160, in_flight=32):
    """What a login takes while others are in flight: its instructions, with those of the store and of the vendor's client."""
    jwt, found = programs.mint("ann", 36000), []
    for count in (few, many):
        daemon = programs.daemon(f"logins-{count}")
        daemon.start()
        daemon.create("i", many)
        daemon.stop()
        out = programs.path(f"logins.{count}")
        process = programs.start(
            "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}",
            stripped(programs, "sdkd", programs.program("sdkd")), *daemon.arguments,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait(lambda: answers(daemon.path), "sdkd", 600)
        client = Client(daemon.path)
        client.call("instance.list", limit=1)
        for number in range(count + in_flight):
            if number >= in_flight:
                client.receive()
            if number < count:
                client.send("messaging.loginUser", instance=f"i{number}", jwt=jwt)
                client.file.flush()
        client.close()
        process.send_signal(signal.SIGTERM)
        process.wait(120)
        programs.running.remove(process)
        found.append(sum(counts(out)[0].values()))
    return (found[1] - found[0]) / (many - few)


def demangled(functions):
    return subprocess.run(
        ["swift", "demangle", "--compact"], input="\n".join(functions), capture_output=True, text=True,
        check=True).stdout.split("\n")


def own_types(functions):
    """The project's types that these functions belong to."""
    modules = "|".join(re.escape(name) for name in os.listdir(os.path.join(ROOT, "Sources")))
    found = (re.search(rf"\b(?:{modules})\.\(?([A-Z]\w*)", name) for name in demangled(functions))
    return sorted({one[1] for one in found if one})


def show(name, own, calls):
    """Prints the figures, and returns the instructions."""
    instructions = sum(own.values())
    print(f"{name}: {instructions:,.0f} instructions, {sum(calls.get(one, 0) for one in ALLOCATIONS):.1f} allocations")
    return instructions


def run(programs, results, types=False, functions=0):
    figures = results["instructions"] = {}
    daemon = programs.daemon("warm")
    daemon.start()
    daemon.sign_in("bench")
    figures["sdkctl_token"] = show(
        "sdkctl token",
        *run_once(programs, "sdkctl", programs.program("sdkctl"), "token", "bench", SDKD_SOCKET=daemon.path))
    daemon.stop()
    request = token_get("bench").replace("\\n", "\n").encode()
    size = warm(programs, figures, daemon, request, types, functions)
    figures["login"] = logins(programs)
    print(f"a login with 32 in flight: {figures['login']:,.0f} instructions")
    empty = figures["start_empty"] = start(programs, programs.daemon("empty"))
    print(f"start with an empty state: {empty:,} instructions")
    for count in (1000, 10_000):
        with_instances(programs, figures, count, empty)
    peers(programs, figures, request, size)


def warm(programs, figures, daemon, request, types, functions):
    """Counts a warm `token.get`, and returns the bytes of its answer."""
    own, calls, size = measured(programs, "sdkd", [programs.program("sdkd"), *daemon.arguments], daemon.path, request)
    figures["token_get"] = show("token.get", own, calls)
    found = own_types([name for name, count in own.items() if count >= 3])
    print(f"  own types: {len(found)}" + (f" ({', '.join(found)})" if types else ""))
    costly = own.most_common(functions) if functions else []
    for (_, count), name in zip(costly, demangled([name for name, _ in costly])):
        print(f"  {count:8,.0f}  {name[:150]}")
    return size


def with_instances(programs, figures, count, empty):
    """A start, a page and the numbers with many instances."""
    page = b'{"jsonrpc":"2.0","id":1,"method":"instance.list"}\n'
    numbers = b'{"jsonrpc":"2.0","id":1,"method":"instance.list","params":{"counts":true}}\n'
    daemon = programs.daemon(f"with-{count}")
    daemon.start()
    daemon.create("i", count)
    daemon.stop()
    each = figures[f"start_each_{count}"] = (start(programs, daemon) - empty) / count
    print(f"start with {count:,} instances: {each:,.0f} instructions each")
    for key, name, request in (
            ("page", "a page of instance.list with {:,} instances", page), ("numbers", "the numbers of {:,} instances", numbers)):
        own, calls, _ = measured(
            programs, "sdkd", [programs.program("sdkd"), *daemon.arguments], daemon.path, request, few=10, many=30)
        figures[f"{key}_{count}"] = show(name.format(count), own, calls)


def peers(programs, figures, request, size):
    """Programs of others, as far as they are there: an echo by SwiftNIO, and `redis-cli get`."""
    if programs.is_release("nio-echo"):
        path = programs.path("nio.sock")
        own, calls, _ = measured(programs, "nio-echo", [programs.program("nio-echo"), path, str(size)], path, request)
        figures["nio_echo"] = show("NIO echo", own, calls)
    if shutil.which("redis-cli"):
        for path, *_ in throughput.redis(programs, size).values():
            figures["redis_cli_get"] = show(
                "redis-cli get", *run_once(programs, "redis-cli", shutil.which("redis-cli"), "-s", path, "get", "t"))
