internal import JSONRPC
internal import NIOCore
internal import Synchronization

/// The methods that the transport handles itself.
enum TransportMethod {
  /// A notification with the params `{"id"}`. The sender of the request with this id no longer waits for its response.
  static let cancelRequest = "$/cancelRequest"
}

extension ConnectionCore {
  /// Handles the text of a frame.
  ///
  /// - Returns: the number of messages in it.
  @discardableResult
  func receive(_ text: ArraySlice<UInt8>) -> Int {
    let frame: RPCFrame
    do throws(RPCError) { frame = try RPCFrame(text) } catch { return receiveUnparsed(error) }
    return receive(frame, text)
  }

  /// Answers a text that could not be parsed. It counts as one message.
  private func receiveUnparsed(_ error: RPCError) -> Int {
    answer(.null, .failure(error))
    return 1
  }

  /// Handles a long text: parses it and decodes the params of its calls on another thread.
  ///
  /// Nothing more may be received until `body` is called, on the event loop, with the number of messages in the text.
  func receiveApart(_ text: ArraySlice<UInt8>, _ body: @escaping (Int) -> Void) {
    let home = NIOLoopBound(self, eventLoop: eventLoop)
    let then = NIOLoopBound(body, eventLoop: eventLoop)
    let (eventLoop, program, settings) = (eventLoop, program, settings)
    parsing = Task {
      let frame = RPCFrame.result(of: text).map { frame in
        frame.mapCalls { request in
          // Too large for its method: the request is refused later, so its params need no decoding.
          guard text.count <= settings.limits.smallFrameBytes || settings.takesLargeFrames(request.method) else {
            return request
          }
          return program?.prepare(request) ?? request
        }
      }
      eventLoop.execute { then.value(home.value.receiveParsed(frame, text)) }
    }
  }

  private func receiveParsed(_ frame: Result<RPCFrame, RPCError>, _ text: ArraySlice<UInt8>) -> Int {
    // A connection that is handed over is not settled before the whole frame is received.
    defer {
      parsing = nil
      endIfDone()
    }
    switch frame {
    case .success(let frame): return receive(frame, text)
    case .failure(let error): return receiveUnparsed(error)
    }
  }

  private func receive(_ frame: consuming RPCFrame, _ text: ArraySlice<UInt8>) -> Int {
    let isLarge = text.count > settings.limits.smallFrameBytes
    switch consume frame {
    case .single(let message):
      receive(message, bytes: text.count, isLarge: isLarge, .single)
      return 1
    case .batch(let messages):
      let destination = state.batches.open(expected: messages.count { $0.wantsAnswer })
      for message in messages {
        // The responses of a batch are stored until all are there, so check the stored bytes before each member.
        if case .request(let request) = message, hasTooManyAnswers, let program {
          refuse(request, .tooManyAnswers, destination, program)
          continue
        }
        receive(message, bytes: text.count / messages.count, isLarge: isLarge, destination)
      }
      return messages.count
    }
  }

  /// Receives a member of a batch that another process has received. The batch gets a response in any case.
  func receive(member: ConnectionHandOver.Request, of batch: AnswerDestination) {
    do throws(RPCError) {
      guard case .single(let message) = try RPCFrame(member.text[...]), message.wantsAnswer else {
        throw RPCError.invalidRequest("The message is no request.")
      }
      if !member.isChecked, case .request(let request) = message, hasTooManyAnswers, let program {
        return refuse(request, .tooManyAnswers, batch, program)
      }
      let bytes = member.text.count
      receive(message, bytes: bytes, isLarge: bytes > settings.limits.smallFrameBytes, batch)
    } catch {
      answer(.null, .failure(error), to: batch)
    }
  }

  private func receive(
    _ message: consuming RPCMessage, bytes: Int, isLarge: Bool, _ destination: AnswerDestination
  ) {
    guard let program else { return }
    switch consume message {
    case .request(let request):
      if !isRepeating, let refusal = allowance?.takeCall(at: now) {
        refuse(request, refusal, destination, program)
      } else if isLarge, !settings.takesLargeFrames(request.method) {
        refuse(request, .frameTooLarge(limit: settings.limits.smallFrameBytes), destination, program)
      } else {
        accept(request, bytes: bytes, destination, program)
      }
    case .notification(let call) where call.method == TransportMethod.cancelRequest: cancel(call.params)
    case .notification(let notification):
      if isLarge, !settings.takesLargeFrames(notification.method) { return }
      // Notifications count as calls too. Those over a limit are dropped, because they have no response.
      if !isRepeating, allowance?.takeCall(at: now) != nil { return }
      if let refusal = state.refusal(of: nil, bytes: bytes) ?? refusalOfUser() {
        _ = keep(notification, refused: refusal, .discarded)
        return
      }
      if let call = program.receive(notification: notification) {
        enter(call, notification, bytes: bytes, .discarded)
      }
    case .response(.string(let id), let result):
      questions.end(id, with: result.mapError { .refused($0) })
      endIfDone()
    case .response: break
    case .invalidResponse(.string(let id), let error):
      questions.end(id, with: .failure(.refused(error)))
      endIfDone()
    case .invalidResponse: break
    case .invalid(let id, let error):
      // An invalid message counts as a call, but gets its own error even over the rate.
      _ = allowance?.takeCall(at: now)
      answer(id, .failure(error), to: destination)
    }
  }

  private var now: UInt64 { eventLoop.now.uptimeNanoseconds }

  private func accept(
    _ request: RPCRequest, bytes: Int, _ destination: AnswerDestination, _ program: any ConnectionHandler
  ) {
    if let refusal = state.refusal(of: request.id, bytes: bytes) ?? refusalOfUser() {
      if keep(request, refused: refusal, destination) { return }
      return refuse(request, refusal, destination, program)
    }
    switch program.accept(request) {
    case .reply(let result): answer(request.id, result, to: destination)
    case .run(let call): enter(call, request, bytes: bytes, destination)
    }
  }

  private func enter(
    _ call: any AcceptedCall, _ request: RPCRequest, bytes: Int, _ destination: AnswerDestination
  ) {
    allowance?.count(requests: 1)
    let next = state.enter(call, id: request.id, bytes: bytes, destination: destination, request: request)
    if let next { start(next) }
  }

  private func refuse(
    _ request: RPCRequest, _ error: RPCError, _ destination: AnswerDestination, _ program: any ConnectionHandler
  ) {
    program.refused(request, with: error)
    answer(request.id, .failure(error), to: destination)
  }

  /// Returns the error if the user may not have one more request on any connection, else `nil`.
  private func refusalOfUser() -> RPCError? {
    guard let allowance else { return nil }
    // A crowded user has one call at a time on each connection, because the size of its response is not known yet.
    let isBusy = state.count > 0 || outbox.unsent + state.batches.byteCount > 0
    return allowance.isFull || isBusy && allowance.isCrowded ? .tooManyInFlightOfUser : nil
  }

  private func cancel(_ params: JSON?) {
    guard let id = params?["id"].flatMap(RPCID.init) else { return }
    switch state.cancel(id) {
    case .unknown: break
    case .running(let ticket): cancelTask(ticket)
    case .waiting(let departure):
      allowance?.count(requests: -1)
      giveUp(departure, .cancelled)
    }
  }

  private func giveUp(_ departure: ConnectionState<any AcceptedCall>.Departure, _ error: RPCError) {
    departure.call.abandon()
    answer(departure.id, .failure(error), to: departure.destination)
  }

  /// Answers a refused frame with an error and ends the input, because nothing after it can be read.
  func receiveRefused(_ error: RPCError) {
    answer(.null, .failure(error))
    inputEnded()
  }

  /// Ends the input: nothing more is received from the peer.
  func inputEnded() {
    guard !isLost, !state.isInputEnded else { return }
    state.endInput()
    // The peer can no longer send responses to our requests.
    questions.endAll(with: .failure(.closed))
    flush()
    endIfDone()
  }

  /// Answers new requests with `shuttingDown` from now on, and ends the connection when nothing is in progress.
  func drain() {
    state.drain()
    endIfDone()
  }

  /// Answers waiting and kept requests with `shuttingDown` and closes the connection, which cancels the running ones.
  func cutOff() {
    guard !isLost else { return }
    state.drain()
    refuseKept()
    for departure in removeWaiting() { giveUp(departure, .shuttingDown) }
    collect()
    flush()
    wire?.close()
  }

  // MARK: Questions

  func ask(
    _ handle: Questions.Handle, method: String, params: JSON, timeout: Duration?,
    _ continuation: CheckedContinuation<Questions.Answer, Never>
  ) {
    if handle.isCancelled.load(ordering: .relaxed) { return continuation.resume(returning: .failure(.cancelled)) }
    if isLost || state.isInputEnded { return continuation.resume(returning: .failure(.closed)) }
    let home = NIOLoopBound(self, eventLoop: eventLoop)
    let deadline = timeout.map { timeout in
      eventLoop.scheduleTask(in: TimeAmount(timeout)) { home.value.takeBack(handle.id, .timedOut) }
    }
    questions.add(handle.id, continuation, timeout: deadline)
    send(RPCText.request(id: .string(handle.id), method: method, params: params))
  }

  /// Ends a request of ours with `reason` and sends `$/cancelRequest`. Does nothing if the request is not pending.
  func takeBack(_ id: String, _ reason: PeerRequestError) {
    guard questions.end(id, with: .failure(reason)) else { return }
    send(RPCText.notification(method: TransportMethod.cancelRequest, params: ["id": .string(id)]))
    endIfDone()
  }

  /// Sends a message after those that other threads have sent before.
  private func send(_ text: [UInt8]) {
    _ = outbox.add(text)
    collect()
  }
}

extension RPCFrame {
  /// Parses a text. A failure is the error to answer.
  fileprivate static func result(of text: ArraySlice<UInt8>) -> Result<RPCFrame, RPCError> {
    do throws(RPCError) { return .success(try RPCFrame(text)) } catch { return .failure(error) }
  }
}

extension RPCFrame {
  /// Returns the frame with each of its requests and notifications replaced.
  fileprivate func mapCalls(_ body: (RPCRequest) -> RPCRequest) -> RPCFrame {
    func map(_ message: RPCMessage) -> RPCMessage {
      switch message {
      case .request(let call): .request(body(call))
      case .notification(let call): .notification(body(call))
      case .response, .invalidResponse, .invalid: message
      }
    }
    switch self {
    case .single(let message): return .single(map(message))
    case .batch(let messages): return .batch(messages.map(map))
    }
  }
}

extension RPCMessage {
  /// Whether a batch has to wait for a response to this message.
  var wantsAnswer: Bool {
    switch self {
    case .request, .invalid: true
    case .notification, .response, .invalidResponse: false
    }
  }
}
