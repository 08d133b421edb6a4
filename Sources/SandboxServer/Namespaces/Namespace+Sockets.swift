import Foundation
import JSONRPC

/// The WebSockets of a namespace: opening them, receiving frames and sending frames.
extension Namespace {
  /// Opens a WebSocket if the handshake is valid, the limit permits it and the backend accepts it.
  func upgrade(_ request: SandboxRequest, _ call: BackendCall, of prefix: String, path: [String]) -> SandboxReply {
    if let mistake = request.handshakeMistake {
      return .send(SandboxResponse(400, body: Data(mistake.utf8), note: mistake))
    }
    guard !sockets.isFull else {
      return .send(SandboxResponse(503, note: "at most \(SandboxLimits.sockets) sockets are open at a time"))
    }
    let id = sockets.upcoming
    if let refusal = backends[prefix]?.open(id, call) { return .send(refusal) }
    let commands = sockets.enter(backend: prefix, segments: path, path: request.path)
    deliver(from: prefix)
    return .upgrade(OpenSocket(id: id, namespace: self, commands: commands))
  }

  /// Handles a text frame: by the script for it if there is one, else by the backend.
  func receive(_ text: String, from id: Int) async {
    guard let entry = sockets.entries[id] else { return }
    sockets.count(frame: id)
    let request = SandboxRequest(method: RoutePattern.frames, path: entry.path, body: Data(text.utf8))
    let index = log.begin(request, at: clock.now, socket: id)
    readers.wake()
    let frame = SocketFrame(socket: id, text: text, now: clock.now)
    let messages = frame.messages
    let names = messages.map { backends[entry.backend]?.names(of: $0) ?? [] }
    guard let script = scripts.take(path: entry.segments, events: names.flatMap { $0 }) else {
      log.finish(index, status: nil, note: feed(frame, to: entry.backend))
      return
    }
    if script.delay > 0, await !hold(milliseconds: script.delay) { return }
    guard script.isAnswer else {
      log.finish(index, status: nil, note: feed(frame, to: entry.backend))
      return
    }
    var note = "scripted"
    if script.passThrough, let more = feed(frame, to: entry.backend, keepingQuiet: id) { note += ": \(more)" }
    log.finish(index, status: nil, note: note)
    if let reply = script.reply {
      let asked = zip(messages, names).first { script.route.event.map($0.1.contains) ?? true }?.0 ?? .null
      send(backends[entry.backend]?.completed(reply, answering: asked) ?? reply, to: id)
    }
    if script.close { sockets.order(.close(code: script.code), on: id) }
  }

  /// Counts a ping and returns whether to reply with a pong.
  func answersPing(on id: Int) -> Bool {
    guard let entry = sockets.entries[id] else { return false }
    sockets.count(ping: id)
    guard let script = scripts.takePing(path: entry.segments) else { return true }
    if script.close { sockets.order(.close(code: script.code), on: id) }
    return !script.drop && !script.close
  }

  /// Removes a socket whose connection has ended or must be cut.
  func forget(socket id: Int) {
    guard let prefix = sockets.leave(id) else { return }
    backends[prefix]?.closed(id)
    deliver(from: prefix)
    readers.wake()
  }

  /// Carries out the backend's `outbox`, except the actions for the socket `quiet`.
  func deliver(from prefix: String, keepingQuiet quiet: Int? = nil) {
    guard let actions = backends[prefix]?.outbox, !actions.isEmpty else { return }
    backends[prefix]?.outbox = []
    for action in actions where action.socket != quiet {
      switch action {
      case .send(let tree, let socket, let delay): send(tree, to: socket, afterMilliseconds: delay)
      case .close(let socket, let code): sockets.order(.close(code: code), on: socket)
      }
    }
  }

  /// Sends a string as it is, anything else as JSON. Returns false if the socket is closed or cut.
  @discardableResult func send(_ tree: JSON, to socket: Int, afterMilliseconds delay: Int = 0) -> Bool {
    let text = tree.stringValue ?? String(decoding: tree.encoded, as: UTF8.self)
    return sockets.order(
      .send(text, afterMilliseconds: max(0, min(delay, SandboxLimits.delay))), on: socket)
  }

  private func feed(_ frame: SocketFrame, to prefix: String, keepingQuiet quiet: Int? = nil) -> String? {
    let note = backends[prefix]?.receive(frame)
    deliver(from: prefix, keepingQuiet: quiet)
    return note
  }
}
