import Concurrency
import SDKProtocol

/// The table of delegates: which connections answer the questions of which instances. It is a value; callers pass the
/// time, and wait outside of it.
struct DelegateSeats<Connection: DelegateConnection> {
  /// A connection that answers for an instance.
  struct Attachment {
    let connection: Connection
    let instance: DelegatedInstance
    /// The time that the delegate may take to respond; `nil` for the usual time of each question.
    let timeout: Duration?
    /// Whether the reply to the connection's `delegate.attach` is being sent. Until then the delegate gets no
    /// questions.
    var isReady = false
    /// The position among all attachments: the latest is the preferred one. It outlives a restart of the daemon.
    var order: UInt64 = 0
  }

  private struct Seat {
    /// The attachments by order, so that the latest is the last.
    var attachments: [Attachment] = []
    /// The time at which a connection was last lost; `nil` if one has attached since.
    var lostAt: ContinuousClock.Instant?
    /// The promise that is resolved when the next delegate becomes ready.
    var arrival = Promise<Void>()
  }

  /// The maximum number of delegates of one instance.
  static var maximumPerInstance: Int { 8 }
  /// The maximum number of instances of one connection.
  static var maximumPerConnection: Int { 1024 }

  private var seats: [String: Seat] = [:]
  private var byConnection: [ObjectIdentifier: Set<String>] = [:]
  private var lastOrder: UInt64 = 0

  // MARK: Attaching

  /// Makes a connection the preferred delegate of all of the instances, or of none. It gets questions from `activate`
  /// on.
  ///
  /// - Parameter order: the order that the attachments had before a restart of the daemon; `nil` for new ones.
  /// - Returns: the attachments to instances that it was not attached to before.
  mutating func attach(
    _ connection: Connection, to instances: [DelegatedInstance], timeout: Duration?, order: UInt64? = nil
  ) throws(SDKError) -> [Attachment] {
    let known = byConnection[key(connection)] ?? []
    let fresh = instances.filter { !known.contains($0.uuid) }
    guard known.count + fresh.count <= Self.maximumPerConnection else {
      throw .tooManyAttachments(limit: Self.maximumPerConnection)
    }
    for instance in fresh where (seats[instance.uuid]?.attachments.count ?? 0) >= Self.maximumPerInstance {
      throw .tooManyDelegates(instance.id, limit: Self.maximumPerInstance)
    }
    let order = order ?? lastOrder &+ 1
    lastOrder = max(lastOrder, order)
    var added: [Attachment] = []
    for instance in instances {
      var attachment = Attachment(connection: connection, instance: instance, timeout: timeout)
      var seat = seats[instance.uuid] ?? Seat()
      attachment.isReady = seat.attachments.contains { $0.connection === connection && $0.isReady }
      seat.attachments.removeAll { $0.connection === connection }
      attachment.order = order
      seat.attachments.append(attachment)
      seat.attachments.sort { $0.order < $1.order }
      seat.lostAt = nil
      seats[instance.uuid] = seat
      if byConnection[key(connection), default: []].insert(instance.uuid).inserted { added.append(attachment) }
    }
    return added
  }

  /// Marks a connection's attachments as ready, so that it gets questions.
  mutating func activate(_ connection: Connection) {
    for uuid in byConnection[key(connection)] ?? [] {
      guard var seat = seats[uuid], let index = seat.attachments.firstIndex(where: { $0.connection === connection })
      else {
        continue
      }
      seat.attachments[index].isReady = true
      seat.arrival.resolve(.success(()))
      seat.arrival = Promise()
      seats[uuid] = seat
    }
  }

  /// Detaches a connection from an instance. Returns the removed attachment; `nil` if there was none.
  ///
  /// - Parameter lostAt: when the connection was lost, if that is the reason.
  mutating func detach(
    _ connection: Connection, from uuid: String, lostAt: ContinuousClock.Instant? = nil
  ) -> Attachment? {
    guard leave(connection, uuid), var seat = seats[uuid] else { return nil }
    let attachment = seat.attachments.first { $0.connection === connection }
    seat.attachments.removeAll { $0.connection === connection }
    if let lostAt { seat.lostAt = lostAt }
    seats[uuid] = seat
    return attachment
  }

  /// Removes an instance from a connection's list, and the list when it becomes empty.
  ///
  /// - Returns: whether it was on the list.
  @discardableResult
  private mutating func leave(_ connection: Connection, _ uuid: String) -> Bool {
    guard byConnection[key(connection)]?.remove(uuid) != nil else { return false }
    if byConnection[key(connection)]?.isEmpty == true { byConnection[key(connection)] = nil }
    return true
  }

  /// The number of connections with attachments.
  var connectionCount: Int { byConnection.count }

  /// Returns the attachments of a connection.
  func attachments(of connection: Connection) -> [Attachment] {
    (byConnection[key(connection)] ?? []).compactMap { uuid in
      seats[uuid]?.attachments.first { $0.connection === connection }
    }
  }

  /// Whether a connection is attached to an instance.
  func isAttached(_ connection: Connection, to uuid: String) -> Bool {
    byConnection[key(connection)]?.contains(uuid) ?? false
  }

  /// Records that an instance lost its delegate at `lostAt`, so that questions wait for it.
  mutating func expect(_ uuid: String, lostAt: ContinuousClock.Instant) {
    seats[uuid, default: Seat()].lostAt = lostAt
  }

  /// Removes a deleted instance.
  mutating func forget(_ uuid: String) {
    guard let seat = seats.removeValue(forKey: uuid) else { return }
    for attachment in seat.attachments { leave(attachment.connection, uuid) }
    seat.arrival.resolve(.failure(CancellationError()))
  }

  private func key(_ connection: Connection) -> ObjectIdentifier { ObjectIdentifier(connection) }

  // MARK: Asking

  /// Returns the latest attached delegate that is connected and not in `asked`, and the promise that is resolved when
  /// the next delegate becomes ready.
  func next(
    for uuid: String, except asked: Set<ObjectIdentifier>
  ) -> (attachment: Attachment, arrival: Promise<Void>)? {
    guard let seat = seats[uuid] else { return nil }
    return seat.attachments.last { !asked.contains(key($0.connection)) && !$0.connection.isClosed }
      .map { ($0, seat.arrival) }
  }

  /// Returns the number of connected delegates of an instance, without those of `lost` connections.
  func count(of uuid: String, except lost: Set<ObjectIdentifier> = []) -> Int {
    seats[uuid]?.attachments.count { !lost.contains(key($0.connection)) && !$0.connection.isClosed } ?? 0
  }

  /// The number of attachments; a connection that answers for two instances counts twice.
  var count: Int { seats.values.reduce(0) { $0 + $1.attachments.count } }

  /// Returns how long to wait for a lost delegate to attach again, and the promise that is resolved when one becomes
  /// ready. Returns `nil` while a delegate is connected, or if none was lost within `grace`.
  ///
  /// - Parameter lost: connections that are known to have ended.
  func expected(
    _ uuid: String, except lost: Set<ObjectIdentifier>, grace: Duration, now: ContinuousClock.Instant
  ) -> (left: Duration, arrival: Promise<Void>)? {
    guard let seat = seats[uuid], count(of: uuid, except: lost) == 0 else { return nil }
    // A connection that has just ended is still in the list.
    guard let lostAt = seat.attachments.isEmpty ? seat.lostAt : now else { return nil }
    let left = grace - lostAt.duration(to: now)
    return left > .zero ? (left, seat.arrival) : nil
  }

  /// Returns the UUIDs of the instances that have a delegate or lost one within `grace`. After a restart, questions
  /// wait for these delegates.
  func noted(grace: Duration, now: ContinuousClock.Instant) -> Set<String> {
    Set(
      seats.lazy.filter { _, seat in
        !seat.attachments.isEmpty || seat.lostAt.map { $0.duration(to: now) < grace } ?? false
      }.map(\.key))
  }

  /// The connections with attachments.
  var connections: [Connection] {
    var found: [ObjectIdentifier: Connection] = [:]
    for seat in seats.values {
      for attachment in seat.attachments { found[key(attachment.connection)] = attachment.connection }
    }
    return Array(found.values)
  }
}
