import Concurrency
import SDKProtocol

/// Which connections answer for which instances; a value without clock and waiting.
struct DelegateSeats {
  /// A connection that answers for an instance.
  struct Attachment {
    let session: ClientSession
    let instance: InstanceID
    /// The instance's uuid.
    let uuid: String
    /// How long an answer may take.
    let timeout: Duration
    /// Whether the reply to its call is on the way: no question comes before that.
    var isReady = false
  }

  private struct Seat {
    /// The latest last.
    var attachments: [Attachment] = []
    /// When the last connection was lost, and nobody has attached since.
    var lostAt: ContinuousClock.Instant?
    /// Resolved by the next who attaches.
    var arrival = Promise<Void>()
  }

  /// Connections that answer for one instance.
  static let maximumPerInstance = 8
  /// Instances that one connection answers for.
  static let maximumPerSession = 1024

  private var seats: [String: Seat] = [:]
  private var bySession: [ObjectIdentifier: Set<String>] = [:]
  /// No lost delegate is waited for any more.
  private var isClosed = false

  // MARK: Attaching

  /// Puts a connection in front for all of the instances, or for none. It is asked from `activate` on.
  ///
  /// - Returns: the instances for which it did not answer before.
  mutating func attach(
    _ session: ClientSession, to instances: [(id: InstanceID, uuid: String)], timeout: Duration
  ) throws(SDKError) -> [Attachment] {
    let known = bySession[session.key] ?? []
    let fresh = instances.filter { !known.contains($0.uuid) }
    guard known.count + fresh.count <= Self.maximumPerSession else {
      throw .tooManyAttachments(limit: Self.maximumPerSession)
    }
    for instance in fresh where (seats[instance.uuid]?.attachments.count ?? 0) >= Self.maximumPerInstance {
      throw .tooManyDelegates(instance.id, limit: Self.maximumPerInstance)
    }
    var added: [Attachment] = []
    for instance in instances {
      var attachment = Attachment(session: session, instance: instance.id, uuid: instance.uuid, timeout: timeout)
      var seat = seats[instance.uuid] ?? Seat()
      attachment.isReady = seat.attachments.contains { $0.session === session && $0.isReady }
      seat.attachments.removeAll { $0.session === session }
      seat.attachments.append(attachment)
      seat.lostAt = nil
      seats[instance.uuid] = seat
      if bySession[session.key, default: []].insert(instance.uuid).inserted { added.append(attachment) }
    }
    return added
  }

  /// Lets a connection be asked.
  mutating func activate(_ session: ClientSession) {
    for uuid in bySession[session.key] ?? [] {
      guard var seat = seats[uuid], let index = seat.attachments.firstIndex(where: { $0.session === session }) else {
        continue
      }
      seat.attachments[index].isReady = true
      seat.arrival.resolve(.success(()))
      seat.arrival = Promise()
      seats[uuid] = seat
    }
  }

  /// Takes a connection away from an instance.
  ///
  /// - Parameter lostAt: when its connection was lost, if that is why.
  mutating func detach(
    _ session: ClientSession, from uuid: String, lostAt: ContinuousClock.Instant? = nil
  ) -> Attachment? {
    guard leave(session, uuid), var seat = seats[uuid] else { return nil }
    let attachment = seat.attachments.first { $0.session === session }
    seat.attachments.removeAll { $0.session === session }
    if let lostAt { seat.lostAt = lostAt }
    seats[uuid] = seat
    return attachment
  }

  /// Takes an instance off a connection's list, and the list when it was the last.
  ///
  /// - Returns: whether it was on the list.
  @discardableResult
  private mutating func leave(_ session: ClientSession, _ uuid: String) -> Bool {
    guard bySession[session.key]?.remove(uuid) != nil else { return false }
    if bySession[session.key]?.isEmpty == true { bySession[session.key] = nil }
    return true
  }

  /// How many connections answer for something.
  var sessionCount: Int { bySession.count }

  /// The instances that a connection answers for.
  func attachments(of session: ClientSession) -> [Attachment] {
    (bySession[session.key] ?? []).compactMap { uuid in seats[uuid]?.attachments.first { $0.session === session } }
  }

  /// An instance had a delegate that was lost then.
  mutating func expect(_ uuid: String, lostAt: ContinuousClock.Instant) {
    seats[uuid, default: Seat()].lostAt = lostAt
  }

  /// The instance is deleted.
  mutating func forget(_ uuid: String) {
    guard let seat = seats.removeValue(forKey: uuid) else { return }
    for attachment in seat.attachments { leave(attachment.session, uuid) }
    seat.arrival.resolve(.failure(CancellationError()))
  }

  /// Ends all waiting for those who are expected back.
  mutating func close() {
    isClosed = true
    for seat in seats.values { seat.arrival.resolve(.failure(CancellationError())) }
  }

  // MARK: Asking

  /// The latest attached that lives and is not among those asked already, and who tells when it can be asked.
  func next(
    for uuid: String, except asked: Set<ObjectIdentifier>
  ) -> (attachment: Attachment, arrival: Promise<Void>)? {
    guard let seat = seats[uuid] else { return nil }
    return seat.attachments.last { !asked.contains($0.session.key) && !$0.session.link.isClosed }
      .map { ($0, seat.arrival) }
  }

  /// How many answer for an instance.
  func count(of uuid: String) -> Int { seats[uuid]?.attachments.count { !$0.session.link.isClosed } ?? 0 }

  /// How many answer for all instances together; one that answers for two counts twice.
  var count: Int { seats.values.reduce(0) { $0 + $1.attachments.count } }

  /// How long a delegate that was lost is still expected back, and who tells that one came; `nil` while one is there
  /// or none is expected.
  func expected(
    _ uuid: String, grace: Duration, now: ContinuousClock.Instant
  ) -> (left: Duration, arrival: Promise<Void>)? {
    guard !isClosed, let seat = seats[uuid], count(of: uuid) == 0 else { return nil }
    // A connection that has just ended is still on the list.
    guard let lostAt = seat.attachments.isEmpty ? seat.lostAt : now else { return nil }
    let left = grace - lostAt.duration(to: now)
    return left > .zero ? (left, seat.arrival) : nil
  }

  /// The instances whose delegate would be expected back after a restart.
  func noted(grace: Duration, now: ContinuousClock.Instant) -> Set<String> {
    Set(
      seats.lazy.filter { _, seat in
        !seat.attachments.isEmpty || seat.lostAt.map { $0.duration(to: now) < grace } ?? false
      }.map(\.key))
  }

  /// Everybody who answers for something.
  var sessions: [ClientSession] {
    var found: [ObjectIdentifier: ClientSession] = [:]
    for seat in seats.values {
      for attachment in seat.attachments { found[attachment.session.key] = attachment.session }
    }
    return Array(found.values)
  }
}
