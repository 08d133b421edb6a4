import Foundation
import Glibc
import JSONRPC
import Testing

/// A user with many uids, and many uids without any role: quotas count for the user, and for all strangers together.
/// Needs root to switch users.
@Suite(.enabled(if: getuid() == 0, "needs root to start processes of other users"))
struct ManyUidsTests {
  /// Functions of scripts that run as root: `alike(uid, body)` returns what `body` says in a process of that uid.
  private static let prelude = """
    import subprocess
    def become(uid, groups=()):
        os.setgroups(list(groups)); os.setgid(uid); os.setuid(uid)
    def alike(uid, body, groups=()):
        there, here = os.pipe()[::-1]
        child = os.fork()
        if child == 0:
            try:
                become(uid, groups)
                os.write(there, json.dumps(body()).encode())
            finally: os._exit(0)
        os.close(there)
        said = b"".join(iter(lambda: os.read(here, 65536), b""))
        os.close(here)
        os.waitpid(child, 0)
        return json.loads(said)
    def hold(uid, count=1):
        "A process of that uid that holds connections, and how many of them are served."
        there, here = os.pipe()[::-1]
        child = os.fork()
        if child == 0:
            try:
                become(uid)
                lines = [Line() for _ in range(count)]
                served = 0
                for line in lines:
                    try:
                        line.begin(1, "daemon.info")
                        served += "result" in (line.read() or {})
                    except OSError: pass
                os.write(there, json.dumps(served).encode())
                os.close(there)
                time.sleep(600)
            finally: os._exit(0)
        os.close(there)
        said = json.loads(b"".join(iter(lambda: os.read(here, 65536), b"")))
        os.close(here)
        return child, said
    def release(children):
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)

    """

  /// A desk whose user 1001 has the subordinate uids 200000 to 265535.
  private func desk(_ configuration: String) throws -> Desk {
    let desk = try Desk()
    try desk.write("sdkd.toml", configuration)
    try desk.start(subordinates: try desk.write("subuid", "1001:200000:65536\nroot:300000:10\n"))
    return desk
  }

  private func play(_ desk: Desk, _ script: String) throws -> JSON { try desk.play(Self.prelude + script) }

  @Test("A create rule's maximum counts for a user with all subordinate uids, and gives none of them its rights")
  func creation() throws {
    let desk = try desk(
      """
      [[access.create]]
      who = "group:games"
      prefix = "k-"
      max = 2
      """)
    let said = try play(
      desk,
      """
      def create(name):
          settings = {"base_url": "https://a.zendesk.com/sc", "app_id": "a"}
          return lambda: reason(Line().call(
              "instance.create", instance=name, kind="zendesk.messaging", settings=settings))
      def get(name): return lambda: reason(Line().call("instance.get", instance=name))
      end = time.monotonic() + 30
      while alike(1001, create("other"), [60]) != "accessDenied": pass
      first = None
      while (first := alike(1001, create("k-0"), [60])) == "accessDenied" and time.monotonic() < end: time.sleep(0.05)
      created = [first] + [alike(200000 + n, create(f"k-{n + 1}"), [60]) for n in range(12)]
      say({"created": created, "own": alike(200000, get("k-1")), "owner": alike(1001, get("k-1")),
           "other": alike(200001, get("k-0")), "stranger": alike(1002, create("k-20"), [60])})
      """)
    #expect(said["created"]?.arrayValue?.filter { $0 == .null }.count == 2)
    #expect(said["created"]?.arrayValue?.filter { $0 == "tooManyInstances" }.count == 11)
    #expect(said["own"] == .null)
    #expect(said["owner"] == "instanceNotFound")
    #expect(said["other"] == "instanceNotFound")
    #expect(said["stranger"] == .null)
  }

  @Test("Subordinate uids share their owner's connections")
  func connections() throws {
    let desk = try desk("[limits]\nconnections = 4")
    let said = try play(
      desk,
      """
      held = [hold(uid) for uid in (200000, 200001, 265535, 1001)]
      extra = [alike(uid, lambda: Line().read()["error"]["message"]) for uid in (1001, 200002)]
      other = alike(266000, lambda: "result" in Line().call("daemon.info"))
      release([child for child, _ in held])
      say({"served": [served for _, served in held], "extra": extra, "other": other})
      """)
    #expect(said["served"] == [1, 1, 1, 1])
    for message in said["extra"]?.arrayValue ?? [] {
      #expect(message.stringValue?.hasPrefix("This user has 4 connections already") == true)
    }
    #expect(said["extra"]?.arrayValue?.count == 2)
    #expect(said["other"] == true)
  }

  @Test("Callers without a role have a quarter of the connections, and leave the rest to those with one")
  func strangers() throws {
    let desk = try desk("[limits]\nconnections = 8\ntotal_connections = 16")
    try desk.create("desk", on: try desk.connect(), access: ["use": ["uid:1002"]])
    let said = try play(
      desk,
      """
      held = [hold(3000 + n, 2) for n in range(16)]
      end = time.monotonic() + 30
      # The rules count for connections within a second.
      while (known := hold(1002, 8))[1] < 8 and time.monotonic() < end: release([known[0]])
      refusal = alike(4000, lambda: Line().read())
      say({"strangers": sum(served for _, served in held), "known": known[1], "refusal": refusal})
      release([child for child, _ in held + [known]])
      """)
    #expect(said["strangers"] == 4)
    #expect(said["known"] == 8)
    #expect(said["refusal"]?["id"] == .null)
    #expect(said["refusal"]?["error"]?["data"]?["reason"] == "rateLimit")
    #expect(said["refusal"]?["error"]?["message"]?.stringValue?.hasPrefix("Callers without a role") == true)
  }

  @Test("Whoever gets a role leaves the quarter of the strangers with the connections that are open")
  func promotion() throws {
    let desk = try desk("[limits]\nconnections = 8\ntotal_connections = 16")
    let line = try desk.connect()
    try desk.create("desk", on: line)
    #expect(mkfifo(desk.socket + ".go", 0o666) == 0)
    let stranger = try Stranger(
      desk,
      Self.prelude + """
        held = [hold(1002, 4)]
        say(held[0][1])
        open(path + ".go").read()
        end = time.monotonic() + 30
        while not alike(1003, lambda: "result" in (Line().call("daemon.info") or {})) and time.monotonic() < end:
            time.sleep(0.1)
        say(alike(1003, lambda: "result" in (Line().call("daemon.info") or {})))
        release([child for child, _ in held])
        """)
    #expect(try stranger.word() == 4)
    #expect(try desk.play(uid: 1003, "say(reason(Line().read()))") == "rateLimit")
    try line.call("instance.update", ["instance": "desk", "access": ["use": ["uid:1002"]]])
    try "go".write(toFile: desk.socket + ".go", atomically: false, encoding: .utf8)
    #expect(try stranger.end() == true)
  }

  @Test(
    "A service that only a unit rule names is no stranger, and an admin by unit has no quota",
    .enabled(if: ControlGroup.root != nil, "needs a cgroup2 hierarchy to put processes into units"))
  func units() throws {
    let name = UUID().uuidString.prefix(8).lowercased()
    let (kiosk, agent) = ("kiosk-\(name).service", "agent-\(name).service")
    let desk = try desk(
      "[access]\nadmins = [\"unit:\(agent)\"]\n[limits]\nconnections = 4\ntotal_connections = 4\n")
    try desk.create("desk", on: try desk.connect(), access: ["use": [.string("unit:\(kiosk)")]])
    let crowd = try Stranger(
      desk,
      Self.prelude + """
        held = [hold(3000 + n) for n in range(8)]
        say(sum(served for _, served in held))
        time.sleep(600)
        """)
    defer { crowd.signal(SIGTERM) }
    #expect(try crowd.word() == 1)
    func info(_ unit: String) throws -> JSON? {
      let group = try ControlGroup("system.slice/\(unit)")
      return try? Caller(uid: 61_200, controlGroup: group.path).call(desk, "daemon.info")["result"]
    }
    try eventually("the rules count for connections") { try info(kiosk) != nil }
    #expect(try info(agent)?["paths"] != nil)
    #expect(try info("other-\(name).service") == nil)
  }

  @Test("What strangers leave unread is bounded for all of them together")
  func bytes() throws {
    let desk = try desk(
      "[limits]\nbuffered_bytes_per_uid = \"1MiB\"\ntotal_buffered_bytes = \"4MiB\"\nframe_timeout = \"60s\"")
    let said = try play(
      desk,
      """
      answers, lines = [], []
      children = []
      for n in range(24):
          there, here = os.pipe()[::-1]
          child = os.fork()
          if child == 0:
              try:
                  become(3000 + n)
                  line = Line()
                  try: line.socket.sendall(b" " + b"[" * 200_000)
                  except OSError: pass
                  os.write(there, b"!")
                  try: os.write(there, json.dumps(reason(line.read())).encode())
                  except OSError: pass
                  os.close(there)
                  time.sleep(600)
              finally: os._exit(0)
          os.close(there)
          os.read(here, 1)
          children.append(child)
          lines.append(here)
      end = time.monotonic() + 30
      # A process that waits in vain says nothing in the end.
      while len(answers) < 16 and lines and time.monotonic() < end:
          for ready in select.select(lines, [], [], 1)[0]:
              lines.remove(ready)
              if answer := os.read(ready, 100).decode(): answers.append(answer)
      say({"answers": sorted(set(answers)), "count": len(answers),
           "short": alike(5000, lambda: "result" in Line().call("daemon.info"))})
      release(children)
      """)
    // Five times 200 KB fit into the strangers' 1 MiB.
    #expect(said["answers"] == ["\"rateLimit\""])
    #expect((said["count"]?.intValue ?? 0) >= 16)
    #expect(said["short"] == true)
  }
}
