import Foundation
import JSONRPC

/// An independent instance of the sandbox with its own backends, scripts, clock and log.
actor Namespace {
  var backends = BackendList.fresh()
  var scripts = ScriptQueue()
  var log = RequestLog()
  var clock: SandboxClock
  /// The hanging and delayed requests.
  var held = WaitingRoom()
  /// The open WebSockets.
  var sockets = SocketRoom()
  /// The requests to `GET /_log` that wait for entries.
  var readers = WaitingRoom()
  /// The streams that wait for events.
  private var listeners = WaitingRoom()
  private let machine: @Sendable () -> Date

  init(machine: @escaping @Sendable () -> Date = { Date() }) {
    self.machine = machine
    clock = SandboxClock(machine: machine)
  }

  /// Returns the reply to a request. `path` is without the namespace, `origin` with it.
  func reply(to request: SandboxRequest, path: [String], origin: String) async -> SandboxReply {
    if let name = path.first, name.hasPrefix("_") {
      var response = await control(request, path: path, origin: origin)
      listeners.wake()
      stamp(&response)
      return .send(response)
    }
    let index = log.begin(request, at: clock.now)
    readers.wake()
    let reply = await answer(request, path: path, origin: origin)
    switch reply {
    case .send(var response):
      stamp(&response)
      log.finish(index, status: response.status, note: response.note)
      guard let stream = response.stream, let prefix = path.first else { return .send(response) }
      return .stream(response, OpenStream(namespace: self, prefix: prefix, stream: stream))
    case .cut(var response):
      stamp(&response)
      log.finish(index, status: response.status, note: "cut in the middle of the body")
      return .cut(response)
    case .upgrade(let socket):
      log.finish(index, status: 101, note: nil, socket: socket.id)
      return reply
    case .drop, .sendAndClose, .stream:
      log.finish(index, status: nil, note: "closed without a response")
      return reply
    }
  }

  /// Restores the initial state: no sockets, no scripts, demo keys, the machine's time and an empty log. Deletes all
  /// users.
  func reset() {
    backends = BackendList.fresh()
    scripts.clear()
    sockets.clear()
    log.clear()
    clock = SandboxClock(machine: machine)
    held.wake()
    readers.wake()
  }

  private func answer(_ request: SandboxRequest, path: [String], origin: String) async -> SandboxReply {
    guard let script = scripts.take(method: request.method, path: path) else {
      return perform(request, path: path, origin: origin)
    }
    if script.delay > 0, await !hold(milliseconds: script.delay) { return .drop }
    let backend = path.first.flatMap { backends[$0] }
    let reply =
      script.passThrough
      ? perform(request, path: path, origin: origin)
      : .send(
        script.response {
          backend?.errorResponse(for: $0, path: Array(path.dropFirst())) ?? MessagingRefusal.standard(for: $0).response
        })
    if script.hang { _ = await hold(milliseconds: nil) }
    let isCut = script.hang || script.closeMidBody && request.isUpgrade
    if isCut, case .upgrade(let socket) = reply { forget(socket: socket.id) }
    if isCut { return .drop }
    guard case .send(var response) = reply else { return reply }
    for (name, values) in script.headers { response.set(name, to: values) }
    return script.closeMidBody ? .cut(response) : .send(response)
  }

  /// Holds the request for a time, or until `DELETE /_control`. Returns false if the request must be dropped.
  func hold(milliseconds: Int?) async -> Bool {
    guard let place = held.enter() else { return false }
    readers.wake()
    await place.wait(milliseconds: milliseconds)
    held.leave(place)
    return !Task.isCancelled
  }

  /// Returns what a stream sends next: events, or a ping after a silence. `nil` when the stream is over.
  func part(of stream: ResponseStream, from prefix: String) async -> (text: String, after: Int)? {
    guard let part = backends[prefix]?.part(of: stream, at: clock.now) else { return nil }
    if !part.text.isEmpty { return part }
    guard let place = listeners.enter() else { return nil }
    await place.wait(milliseconds: stream.pingMilliseconds)
    listeners.leave(place)
    guard !Task.isCancelled, let next = backends[prefix]?.part(of: stream, at: clock.now) else { return nil }
    return next.text.isEmpty ? ("event: ping\ndata: {}\n\n", next.after) : next
  }

  private func perform(_ request: SandboxRequest, path: [String], origin: String) -> SandboxReply {
    guard let prefix = path.first, backends[prefix] != nil else {
      let known = BackendList.all.map { "/\($0.prefix)" }.joined(separator: ", ")
      return .send(
        SandboxResponse(
          404, json: ["error": ["code": "not_found", "description": .string("No such SDK here; there is \(known)")]]))
    }
    let call = BackendCall(
      method: request.method.uppercased(), path: Array(path.dropFirst()), query: request.queryItems,
      headers: Dictionary(request.headers.map { ($0.lowercased(), $1) }, uniquingKeysWith: { first, _ in first }),
      authorization: request.header("Authorization"), body: request.body, now: clock.now,
      baseURL: "\(origin)/\(prefix)")
    if request.isUpgrade { return upgrade(request, call, of: prefix, path: path) }
    let response = backends[prefix]?.respond(to: call) ?? SandboxResponse(404)
    deliver(from: prefix)
    listeners.wake()
    return .send(response)
  }

  /// Sets the response's `Date` to the sandbox's time, unless a script has set it.
  private func stamp(_ response: inout SandboxResponse) {
    guard !response.headers.keys.contains(where: { $0.lowercased() == "date" }) else { return }
    response.headers["Date"] = [HTTPDate.text(clock.now)]
  }
}
