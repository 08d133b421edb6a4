internal import JSONRPC
internal import NIOCore

/// The hand-over of a connection to another process, and its adoption there.
extension ConnectionCore {
  /// Reads no more, and keeps the requests that are not run from now on.
  func beginHandOver() {
    guard !isLost, kept == nil else { return }
    kept = KeptRequests()
    state.drain()
    endIfDone()
  }

  /// Calls `body` with the program's handler when no request is in progress, or with `nil` when the connection ends or
  /// the time is over. It is then closed.
  func whenSettled(within time: TimeAmount, _ body: @escaping (_ handler: (any ConnectionHandler)?) -> Void) {
    guard !isLost, kept != nil else { return body(nil) }
    kept?.whenSettled(body)
    endIfDone()
    // Most connections are idle, and need no timer.
    if isLost || isSettled { return }
    let home = NIOLoopBound(self, eventLoop: eventLoop)
    let timer = eventLoop.scheduleTask(in: time) {
      let core = home.value
      if !core.isLost, !core.isSettled { core.cutOff() }
    }
    ended.futureResult.assumeIsolated().whenComplete { _ in timer.cancel() }
  }

  /// Whether no request is in progress. The batches that are incomplete then have members that are kept.
  private var isSettled: Bool { parsing == nil && state.count == 0 && !isAdopting }

  /// Calls the function that waits for the end of all requests, if there are none.
  func settleIfDone() {
    guard isSettled else { return }
    completeBoundBatches()
    kept?.settled(handler)
  }

  /// Completes the batches with a response that this process must write, because work of the program waits for it.
  private func completeBoundBatches() {
    let batches = state.batches
    let bound = kept?.remove { kept in
      guard case .batch(let number) = kept.destination else { return false }
      return batches[number]?.calls.contains { $0.awaitsAnswer } ?? false
    }
    refuse(bound ?? [])
  }

  /// Answers the kept requests, because no other process will run them.
  func refuseKept() {
    guard var requests = kept else { return }
    kept = nil
    requests.settled(nil)
    refuse(requests.remove { _ in true })
  }

  /// Drops the kept requests of a connection that has ended.
  func dropKept() {
    guard var requests = kept else { return }
    kept = nil
    requests.settled(nil)
    for request in requests.remove(where: { _ in true }) { report(request) }
  }

  private func refuse(_ requests: [KeptRequests.Request]) {
    for kept in requests {
      report(kept)
      answer(kept.request.id, .failure(kept.refusal), to: kept.destination)
    }
  }

  /// Reports that a kept request runs nowhere, also after the connection has ended.
  private func report(_ kept: KeptRequests.Request) {
    if let call = kept.call {
      call.refused(with: kept.refusal)
    } else if kept.destination != .discarded {
      handler?.refused(kept.request, with: kept.refusal)
    }
  }

  /// Keeps a request that has ended without being run. Returns false if it is to be answered.
  func keep(
    _ departure: ConnectionState<any AcceptedCall>.Departure, _ ticket: ConnectionState<any AcceptedCall>.Ticket,
    _ result: Result<[UInt8], RPCError>
  ) -> Bool {
    guard kept != nil, case .failure(let error) = result, let request = departure.request else { return false }
    return keep(request, refused: error, departure.destination, of: departure.call, number: ticket.number)
  }

  /// Keeps a request that was refused because of the hand-over. Returns false if it is to be answered.
  func keep(
    _ request: RPCRequest, refused error: RPCError, _ destination: AnswerDestination,
    of call: (any AcceptedCall)? = nil, number: UInt64 = .max
  ) -> Bool {
    guard kept != nil, error.reason == RPCError.shuttingDown.reason else { return false }
    kept?.add(
      KeptRequests.Request(
        number: number, request: request, call: call, destination: destination, refusal: error))
    return true
  }

  /// Takes the connection out of this process. Returns `nil` if it has ended, or is not to be handed over.
  ///
  /// - Parameters:
  ///   - lastQuestion: the number of the last request of ours.
  ///   - processStart: the start time by which the peer's process is pinned.
  func pack(program: JSON, lastQuestion: UInt64, processStart: UInt64?) -> (
    descriptor: CInt, state: ConnectionHandOver
  )? {
    guard !isLost, isSettled, let (requests, batches) = kept?.handOver(state.batches) else { return nil }
    // The peer need not answer what nobody here waits for any more.
    for id in questions.ids {
      _ = outbox.add(RPCText.notification(method: TransportMethod.cancelRequest, params: ["id": .string(id)]))
    }
    var messages = outbox.take()
    output.writeBuffer(&messages)
    let rest = output
    guard let detached = wire?.detach() else { return nil }
    let handed = ConnectionHandOver(
      inode: ConnectionHandOver.inode(of: detached.descriptor), framing: framing, input: detached.input,
      output: Array(detached.unsent.readableBytesView) + Array(rest.readableBytesView), requests: requests,
      batches: batches, lastQuestion: lastQuestion, processStart: processStart, program: program)
    // The program knows that the connection goes on, so it is not notified of an end. Another process reports the calls.
    handler = nil
    kept = nil
    lost()
    ended.succeed(())
    return (detached.descriptor, handed)
  }

  /// Continues a connection of another process.
  func adopt(_ state: ConnectionHandOver) {
    isAdopting = true
    if let framing = state.framing { use(framing) }
    output.writeBytes(state.output)
    outbox.count(state.output.count)
  }

  /// Receives the requests that another process has accepted and not run. Batches keep their responses of that process.
  func repeatRequests(_ handed: ConnectionHandOver) {
    isAdopting = false
    isRepeating = true
    var expected = handed.batches.map { _ in 0 }
    for request in handed.requests { if let batch = request.batch { expected[batch] += 1 } }
    let batches = zip(expected, handed.batches).map { state.batches.open(expected: $0, with: $1) }
    // Counts the responses of batches. The wire counts its input when it begins.
    keep(pending: 0)
    for request in handed.requests {
      if let batch = request.batch {
        receive(member: request, of: batches[batch])
      } else {
        receive(request.text[...])
      }
    }
    isRepeating = false
  }
}
