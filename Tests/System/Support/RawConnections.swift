import Foundation
import JSONRPC

/// Connections to a daemon in a machine that call and listen all the time, without a library.
struct RawConnections {
  private let program: HostProgram

  /// The counts at the end: calls, failures, closed connections and events.
  struct Outcome: Decodable, CustomStringConvertible {
    /// The number of connections that the daemon has closed.
    let closed: Int
    /// The number of calls that failed.
    let failed: Int
    /// The notifications other than events, and the reasons of errors.
    let others: [String]
    let calls: Int
    /// The longest time from a call to its answer, in milliseconds. A client that reconnects waits until it has
    /// subscribed again.
    let longest: Int
    /// The numbers of events that the connections have received; one number if all have received the same.
    let events: [Int]
    /// Whether a connection has received an event twice.
    let isDoubled: Bool

    var description: String {
      "\(closed) closed, \(failed) of \(calls) calls failed, longest \(longest) ms, events \(events), \(others)"
    }
  }

  /// Opens connections, runs `body` when each has been answered, and closes them.
  ///
  /// - Parameters:
  ///   - socket: the path of the daemon's socket in the machine.
  ///   - method: a method that reads the instance `desk`; `nil` for connections that only listen.
  ///   - isReconnecting: whether a client whose connection is closed opens another, and resumes after its last event.
  static func with<Result: Sendable>(
    _ count: Int, in machine: Machine, socket: String = "/run/sdkd/sdkd.sock", calling method: String? = "storage.list",
    isReconnecting: Bool = false, _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> (outcome: Outcome, result: Result) {
    // On the host's files, because a machine need not have Python, and as a process of the machine.
    let command = [
      "/usr/bin/nsenter", "--target", "\(machine.leader)", "--net", "--pid", "--ipc", "--uts", "--",
      "/usr/bin/python3", "-c", script, "\(count)", "/proc/\(machine.leader)/root\(socket)", method ?? "",
      isReconnecting ? "reconnect" : "",
    ]
    return try await HostProgram.with(command) { program in
      _ = try await program.printed(/begun/)
      let result = try await body()
      if let clients = Machine.child(of: program.process) { kill(clients, SIGTERM) }
      let text = try await program.printed(/\{.*"closed".*\}/)
      return (try JSONDecoder().decode(Outcome.self, from: Data(text.utf8)), result)
    }.result
  }

  private static let script = #"""
    import json, resource, selectors, signal, socket, sys, time
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    count, path, method, reconnects = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
    signal.signal(signal.SIGTERM, lambda *_: globals().update(end=time.monotonic() + 3))
    class Line:
        def __init__(self):
            self.events, self.cursor, self.begun = [], None, None
            self.open()
        def open(self, **since):
            self.rest, self.socket = b"", socket.socket(socket.AF_UNIX)
            self.socket.connect(path)
            self.ask("s", "events.subscribe", instances=["desk"], types=["instanceUpdated"], **since)
        def ask(self, id, method, **params):
            # The answer to a call that a closed connection has lost is still waited for.
            self.begun = self.begun or time.monotonic()
            text = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
            try: self.socket.sendall(text.encode() + b"\n")
            except ConnectionError: pass
    lines = [Line() for _ in range(count)]
    poll = selectors.DefaultSelector()
    for line in lines: poll.register(line.socket, selectors.EVENT_READ, line)
    closed = failed = calls = longest = 0
    others, answered, end = set(), set(), None
    while end is None or time.monotonic() < end:
        for key, _ in poll.select(0.2):
            line = key.data
            try: data = line.socket.recv(1 << 16)
            except ConnectionError: data = b""
            if not data:
                closed += 1
                poll.unregister(line.socket)
                if reconnects:
                    line.socket.close()
                    line.open(since=line.cursor)
                    poll.register(line.socket, selectors.EVENT_READ, line)
                continue
            *texts, line.rest = (line.rest + data).split(b"\n")
            for text in texts:
                message = json.loads(text)
                if message.get("method") == "events.event":
                    line.cursor = message["params"]["event"]["cursor"]
                    line.events.append(line.cursor)
                elif "method" in message:
                    others.add(message["method"])
                else:
                    longest = max(longest, time.monotonic() - line.begun)
                    line.begun = None
                    if "error" in message:
                        failed += 1
                        others.add(message["error"]["data"]["reason"])
                    elif message["id"] == "s":
                        line.cursor = line.cursor or message["result"]["cursor"]
                    calls += message["id"] != "s"
                    if line not in answered:
                        answered.add(line)
                        if len(answered) == count: print("begun", flush=True)
                    if method and end is None: line.ask(calls, method, instance="desk")
    heard = {tuple(line.events) for line in lines}
    print(json.dumps({"closed": closed, "failed": failed, "others": sorted(others), "calls": calls,
        "longest": round(longest * 1000), "events": [len(events) for events in heard],
        "isDoubled": any(len(set(events)) != len(events) for events in heard)}), flush=True)
    """#
}
