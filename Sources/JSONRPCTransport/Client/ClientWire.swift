internal import Glibc
internal import JSONRPC
internal import Linux
internal import Synchronization

/// The state that a client connection's thread and its callers share.
///
/// A caller sends from its own thread as far as the socket takes the bytes. The connection's thread sends the rest, and
/// receives.
final class ClientWire: Sendable {
  struct State {
    var descriptor: CInt?
    var unsent: [UInt8] = []
    var calls = PendingCalls()
    var answers: [RPCID: Task<Void, Never>] = [:]
    /// The last error that the daemon sent without an id. It explains why the daemon closes the connection.
    var lastWord: RPCError?
    /// Whether the daemon has sent an error without an id. It may read nothing more, but answer calls in progress.
    var takesNoCalls = false
    /// The reason why the connection must end; `nil` while it stays open. The connection's thread reads it and ends the
    /// connection.
    var ending: ClientConnectionError?
    var whenEnded: [CheckedContinuation<Void, Never>] = []
    var isOver = false
    /// Whether the daemon has answered any call on this connection.
    var hasAnswered = false
    /// Whether sending has failed, because the daemon no longer reads.
    var isBroken = false
    /// The time by which the thread next wakes to remove overdue calls.
    var wakesAt: ContinuousClock.Instant?
  }

  let state: Mutex<State>
  let alarm: Alarm
  let maxLineBytes: Int
  let notifications: AsyncThrowingStream<ServerNotification, any Error>.Continuation
  let onRequest: ClientConnection.RequestHandler?

  init(
    descriptor: CInt, maxLineBytes: Int,
    notifications: AsyncThrowingStream<ServerNotification, any Error>.Continuation,
    onRequest: ClientConnection.RequestHandler?
  ) throws(ClientConnectionError) {
    self.maxLineBytes = maxLineBytes
    self.notifications = notifications
    self.onRequest = onRequest
    state = Mutex(State(descriptor: descriptor))
    guard let alarm = Alarm() else {
      let cause = errno
      Glibc.close(descriptor)
      throw .system(call: "socketpair", errno: cause)
    }
    self.alarm = alarm
    do { try ClientThread.start(self) } catch {
      Glibc.close(descriptor)
      throw .system(call: error.call, errno: error.errorNumber)
    }
  }

  var isClosed: Bool { state.withLock { $0.isOver || $0.ending != nil } }
  var takesCalls: Bool { state.withLock { !$0.isOver && $0.ending == nil && !$0.takesNoCalls } }

  // MARK: Calls

  func call(method: String, params: JSON?, timeout: Duration?) async throws -> JSON {
    let id = state.withLock { $0.calls.reserve() }
    let text = RPCText.request(id: .number(JSONNumber(id)), method: method, params: params ?? [:])
    let deadline = timeout.map { ContinuousClock.now + $0 }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        let failure = state.withLock { state -> (any Error)? in
          guard state.calls.wait(id, waiter, until: deadline) else { return CancellationError() }
          guard !state.isOver, state.ending == nil, !state.takesNoCalls, write(text, &state) else {
            _ = state.calls.remove(id)
            // To the first call, the daemon's last error is the reason why it refused the connection.
            return id == 1 ? state.lastWord ?? ClientConnectionError.notSent : ClientConnectionError.notSent
          }
          if let deadline, deadline < state.wakesAt ?? deadline + .seconds(1) {
            // The thread would sleep past this deadline.
            state.wakesAt = deadline
            alarm.ring()
          }
          return nil
        }
        if let failure { waiter.resume(throwing: failure) }
      }
    } onCancel: {
      takeBack([id], state.withLock { $0.calls.cancel(id) }.map { [$0] } ?? [], CancellationError())
    }
  }

  /// Fails calls with `reason`, and sends the daemon a `$/cancelRequest` for each.
  func takeBack(_ ids: [Int], _ waiters: [PendingCalls.Waiter], _ reason: any Error) {
    for (id, waiter) in zip(ids, waiters) {
      send(RPCText.notification(method: TransportMethod.cancelRequest, params: ["id": JSON(id)]))
      waiter.resume(throwing: reason)
    }
  }

  // MARK: Output

  func send(_ text: [UInt8]) {
    state.withLock { _ = write(text, &$0) }
  }

  /// Sends or queues a line. Returns false if no byte of it can have reached the daemon.
  private func write(_ text: [UInt8], _ state: inout State) -> Bool {
    guard state.descriptor != nil, state.ending == nil, !state.isBroken else { return false }
    let wasEmpty = state.unsent.isEmpty
    state.unsent.append(contentsOf: text)
    state.unsent.append(UInt8(ascii: "\n"))
    guard wasEmpty else { return true }
    let sent = flush(&state)
    if !state.unsent.isEmpty { alarm.ring() }
    return sent > 0 || !state.isBroken
  }

  /// Sends as much as the socket takes now. Returns the number of bytes sent.
  func flush(_ state: inout State) -> Int {
    guard let descriptor = state.descriptor, !state.unsent.isEmpty else { return 0 }
    var sent = 0
    while sent < state.unsent.count {
      let count = state.unsent.withUnsafeBytes { bytes in
        Glibc.send(descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, CInt(MSG_NOSIGNAL))
      }
      if count > 0 {
        sent += count
      } else if errno == EAGAIN {
        break
      } else if errno != EINTR {
        // The daemon no longer reads. The thread continues, because earlier messages of the daemon can still be read.
        state.isBroken = true
        state.unsent = []
        return sent
      }
    }
    state.unsent.removeFirst(sent)
    return sent
  }

  // MARK: The end

  func close() { end(.closed) }

  func end(_ reason: ClientConnectionError) {
    state.withLock { if $0.ending == nil { $0.ending = reason } }
    alarm.ring()
  }

  func closed() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if !state.isOver { state.whenEnded.append(continuation) }
        return state.isOver
      }
      if isOver { continuation.resume() }
    }
    for answer in state.withLock({ Array($0.answers.values) }) { await answer.value }
  }

  /// Closes the socket and fails all pending calls. The thread calls it last.
  func finish(_ reason: ClientConnectionError) {
    let (waiters, lastWord, refusal, answers, whenEnded) = state.withLock { state in
      state.isOver = true
      if let descriptor = state.descriptor { Glibc.close(descriptor) }
      state.descriptor = nil
      state.unsent = []
      defer { state.whenEnded = [] }
      let waiters = state.calls.removeAll()
      // The daemon's last error concerns one call, or the connection as a whole. It fails the pending calls unless
      // there are several and the connection has worked before: then its call is unknown.
      let refusal = waiters.count == 1 || !state.hasAnswered ? state.lastWord : nil
      return (waiters, state.lastWord, refusal, Array(state.answers.values), state.whenEnded)
    }
    for waiter in waiters { waiter.resume(throwing: refusal ?? reason) }
    for answer in answers { answer.cancel() }
    if let lastWord, reason == .closed {
      notifications.finish(throwing: lastWord)
    } else {
      notifications.finish(throwing: reason == .closed ? nil : reason)
    }
    for continuation in whenEnded { continuation.resume() }
  }
}
