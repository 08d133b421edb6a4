"""The token provider of the run: answers as the file `behaviour-INSTANCE` says.

A lock that the kernel drops with the process shows when two runs for one instance overlap within one life of the daemon.
"""
import fcntl, json, os, random, signal, sys, time

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)
import answers


def read(name, default=""):
    try:
        with open(os.path.join(FOLDER, name)) as file:
            return file.read()
    except OSError:
        return default


def note(text):
    """Appends one line at once."""
    file = os.open(os.path.join(FOLDER, "runs"), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    os.write(file, f"{text}\n".encode())
    os.close(file)


question = json.loads(sys.stdin.read())
instance = question["instance"]
daemon = os.getppid()
if read(f"/proc/{daemon}/comm").strip() != "sdkd":
    # The daemon has been killed, and another process is the parent now. The run belongs to no life of the daemon.
    sys.exit(1)
run = f"{daemon} {instance} {question.get('service') or '-'}"
lock = os.open(os.path.join(FOLDER, "lock-" + run.replace(" ", "-")), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
# What the run before has left behind was killed when it ended, and needs a moment to die.
patience = time.monotonic() + 0.2
while True:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        break
    except OSError:
        if time.monotonic() > patience:
            note("overlap " + run)
            break
        time.sleep(0.005)
behaviour = read("behaviour-" + instance, "good").strip()
note(f"start {run} {question['question']} {behaviour}")
if behaviour == "hang":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(60)
if behaviour == "child" and os.fork() == 0:
    # It keeps the lock and the output until the daemon ends it.
    time.sleep(60)
    os._exit(0)
if behaviour == "slow":
    time.sleep(0.7)
if behaviour == "close":
    os.close(1)
    time.sleep(0.2)
    os._exit(0)
now = time.time() + float(read("clock", "0") or 0)
print("a careless log:", answers.credential("m", instance, now, 60), file=sys.stderr)
stray = random.choice(json.loads(read("strays", '["https://attacker.test"]')))
reply = answers.answer(question, behaviour, read("user-" + instance, "nobody").strip(), now, int(read("life", "600")), stray)
if behaviour == "crash":
    os.kill(os.getpid(), signal.SIGKILL)
status = {"later": 75, "denied": 77, "fail": 3}.get(behaviour, 0)
if behaviour == "binary":
    os.write(1, bytes(range(256)))
elif behaviour != "empty" and not status:
    print(json.dumps(reply), flush=True)
note("end " + run)
os._exit(status)
