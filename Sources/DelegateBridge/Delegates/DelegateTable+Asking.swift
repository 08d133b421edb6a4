import Concurrency
import JSONRPC
import Logging
import SDKProtocol
import Synchronization

extension DelegateTable {
  /// Sends a question to one delegate after the other, to each at most once. Returns the first answer that is not
  /// deferred; `nil` if no delegate got the question.
  func ask(_ question: BridgeQuestion, _ uuid: String, waits: Bool) async throws(SDKError) -> BridgeAnswer? {
    var asked = Set<ObjectIdentifier>()
    // A request fails when its connection ends, which can be a moment before the connection counts as closed.
    var lost = Set<ObjectIdentifier>()
    // The delegates that were not ready in time, and the promise that is resolved as soon as any of them is. Storing the
    // events of an attach can take long.
    var unready = Set<ObjectIdentifier>()
    var readiness: Promise<Void>?
    // Keeps the connections of these sets alive, so that no new one gets the identifier of an old one.
    var kept: [Connection] = []
    defer { withExtendedLifetime(kept) {} }
    var failure: SDKError?
    var isPassed = false
    while true {
      let (found, expected) = seats.withLock {
        (
          $0.next(for: uuid, except: asked.union(unready)),
          $0.expected(uuid, except: lost, grace: grace, now: .now)
        )
      }
      guard let (next, arrival) = found else {
        guard waits, let expected = expected ?? readiness.map({ (grace, $0) }) else { break }
        if await comes(expected.arrival, within: min(expected.left, left(for: question))) {
          (unready, readiness) = ([], nil)
          continue
        }
        if Task.isCancelled { throw .delegateNotNeeded }
        failure = failure ?? .delegateAbsent
        break
      }
      kept.append(next.connection)
      guard next.isReady else {
        if await comes(arrival, within: min(replyTime, left(for: question))) {
          (unready, readiness) = ([], nil)
          continue
        }
        if Task.isCancelled { throw .delegateNotNeeded }
        unready.insert(ObjectIdentifier(next.connection))
        // A later promise would miss a delegate that became ready after it was skipped.
        readiness = readiness ?? arrival
        continue
      }
      guard mayAnswer(next) else {
        dismiss(next)
        asked.insert(ObjectIdentifier(next.connection))
        continue
      }
      asked.insert(ObjectIdentifier(next.connection))
      do throws(SDKError) {
        let answer = try await ask(next, question, lost: &lost)
        guard mayStillAnswer(next) else { continue }
        guard answer.isDeferred else { return answer }
        isPassed = true
      } catch {
        if error.reason == .providerDenied, !mayStillAnswer(next) { continue }
        if error.reason == .providerDenied || error.reason == .shuttingDown { throw error }
        failure = error
        log(error, of: next.connection, question)
      }
    }
    if let failure { throw failure }
    return isPassed ? BridgeAnswer(members: ["defer": true]) : nil
  }

  private func log(_ failure: SDKError, of connection: Connection, _ question: BridgeQuestion) {
    logger.notice(
      "A delegate passed a question on by failing: \(failure.message)",
      metadata: [
        "instance": "\(question.instance)", "question": "\(question.name.rawValue)",
        "pid": "\(connection.process.pid)", "uid": "\(connection.process.uid)",
      ])
  }

  /// Whether a delegate that has answered still has the role control and has not detached. Otherwise removes its
  /// attachment. A connection that ended after the answer counts as attached.
  private func mayStillAnswer(_ delegate: DelegateSeats<Connection>.Attachment) -> Bool {
    let connection = delegate.connection
    let isAttached =
      connection.isClosed || seats.withLock { $0.isAttached(connection, to: delegate.instance.uuid) }
    if isAttached, mayAnswer(delegate) { return true }
    dismiss(delegate)
    return false
  }

  private func ask(
    _ delegate: DelegateSeats<Connection>.Attachment, _ question: BridgeQuestion, lost: inout Set<ObjectIdentifier>
  ) async throws(SDKError) -> BridgeAnswer {
    let connection = delegate.connection
    let usual: Duration =
      question.personalDeadline == nil ? Self.usualTimeout : .seconds(BridgeQuestion.personalTime)
    let patience = min(delegate.timeout ?? usual, left(for: question))
    guard patience > .zero else { throw .delegateTimedOut }
    guard connection.unsentBytes < Self.maximumUnsentBytes else {
      throw .delegateFailed("does not read what it is sent")
    }
    var question = question
    question.deadline = now() + patience / .seconds(1)
    let result: JSON
    do throws(PeerRequestError) {
      result = try await connection.request(method: question.name.method, params: question.json, timeout: patience)
    } catch {
      switch error {
      case .cancelled: throw .delegateNotNeeded
      case .timedOut: throw .delegateTimedOut
      case .closed:
        lost.insert(ObjectIdentifier(connection))
        throw .delegateFailed("went away before it answered")
      case .refused(let refusal): throw Self.meaning(of: refusal, connection.process)
      }
    }
    do throws(SDKError) {
      return try BridgeAnswer(delegateResult: result, to: question)
    } catch {
      // Not `providerOutputInvalid`: unlike a program's output, the next response may be valid.
      throw SDKError(.provider, .providerFailed, error.message)
    }
  }

  /// Returns the error for a delegate's error response. Its own message is left out, because it may hold anything.
  private static func meaning(of refusal: RPCError, _ process: (uid: UInt32, pid: Int32)) -> SDKError {
    if refusal.code == SDKError.Origin.provider.rawValue, refusal.reason == Reason.providerDenied.rawValue {
      return .delegateDenied
    }
    let program = "uid \(process.uid), pid \(process.pid)"
    return .delegateFailed("(\(program)) failed, with the error \(refusal.code); its own log may tell why")
  }

  private func left(for question: BridgeQuestion) -> Duration {
    .seconds(min(max(question.delegateDeadline - now(), 0), Self.longestWait))
  }

  /// The number of unsent bytes from which a delegate gets no more questions.
  private static var maximumUnsentBytes: Int { 512 << 10 }

  /// The longest wait for a question in seconds, whatever its deadline says.
  private static var longestWait: Double { BridgeQuestion.personalTime }

  /// The time that a delegate may take to respond, if it has not said otherwise and no person is asked.
  private static var usualTimeout: Duration { .seconds(10) }

  private func comes(_ arrival: Promise<Void>, within limit: Duration) async -> Bool {
    (try? await withTimeout(limit) { try await arrival.value() }) != nil
  }
}

/// The errors of delegates, with the provider's reasons of sdkd-protocol(7).
extension SDKError {
  /// The error when the delegate denied the user.
  static let delegateDenied = SDKError(
    .provider, .providerDenied, "The delegate denied this user; its owner decides.")

  /// The error when the delegate is connected, but has not responded in time.
  static let delegateTimedOut = SDKError(
    .provider, .providerTimeout, "The delegate did not answer in time; make it faster or attach it with more timeout.")

  /// The error when a lost delegate has not attached again in time, or one that attaches is not ready.
  static let delegateAbsent = SDKError(
    .provider, .providerTimeout, "The delegate that was attached is not there yet; try again.")

  /// Returns the error for any other failure of a delegate.
  static func delegateFailed(_ how: String) -> SDKError {
    SDKError(.provider, .providerFailed, "The delegate \(how); try again.")
  }

  /// The error when the requesting task was cancelled.
  static let delegateNotNeeded = SDKError(
    .limit, .shuttingDown, "The daemon stopped asking the delegate; try again.")

  /// Returns the error for too many delegates of one instance.
  static func tooManyDelegates(_ id: InstanceID, limit: Int) -> SDKError {
    SDKError(
      .limit, .tooManySubscriptions, "\(limit) connections answer for \(id) already; detach one first.", instance: id)
  }

  /// Returns the error for too many instances on one connection.
  static func tooManyAttachments(limit: Int) -> SDKError {
    SDKError(
      .limit, .tooManyInstances,
      "A connection answers for at most \(limit) instances; attach the others on another connection.")
  }
}
