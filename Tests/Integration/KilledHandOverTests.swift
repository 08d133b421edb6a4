import Foundation
import Glibc
import JSONRPC
import Linux
import Testing

/// A kill between any two steps of a restart closes connections at most. The test has the part of the service manager.
@Suite struct KilledHandOverTests {
  /// A step of the former daemon.
  enum End: CaseIterable {
    /// It has begun to stop.
    case stopping
    /// It has sent the bag, and the service manager has not read the message.
    case sent
    /// The service manager has stored the bag, and has not answered the barrier.
    case stored
    /// The barrier is answered.
    case answered

    /// A line of the last message before the kill.
    var line: String {
      switch self {
      case .stopping: "STOPPING=1"
      case .sent: "FDSTORE=1"
      case .stored, .answered: "BARRIER=1"
      }
    }

    /// Whether the service manager has the bag.
    var keepsBag: Bool { self == .stored || self == .answered }
  }

  @Test("A daemon that is killed while it stops leaves its state whole", arguments: End.allCases)
  func former(step: End) throws {
    let user = try RestartedUser()
    try kill(user, at: step)
    user.ask()
    try user.manager.start()
    #expect(try user.check() == step.keepsBag)
    try user.expectKeptConnection()
  }

  private func kill(_ user: RestartedUser, at step: End) throws {
    user.desk.daemon?.signal(SIGTERM)
    let last = try user.manager.message(with: step.line)
    if step == .answered { for descriptor in last.descriptors { descriptor.close() } }
    user.manager.kill()
    withExtendedLifetime(last) {}
    if !step.keepsBag { user.manager.forget() }
  }

  /// A step of the next daemon.
  enum Start: CaseIterable {
    /// It has the bag, and asks the service manager to remove it.
    case removing
    case ready
    /// It serves the connections of the former daemon.
    case serving
  }

  @Test(
    "A daemon that is killed while it continues connections leaves the state whole, also if the bag is still stored",
    arguments: Start.allCases, [false, true])
  func next(step: Start, isStored: Bool) throws {
    let user = try RestartedUser()
    let (desk, manager) = (user.desk, user.manager)
    try manager.stop()
    let bag = isStored ? manager.stored : []
    user.ask()
    try manager.start(waits: false)
    switch step {
    case .removing: try manager.message(with: "FDSTOREREMOVE=1")
    case .ready: try manager.message(with: "READY=1")
    case .serving:
      try eventually("the connections go on", within: 60) {
        manager.receive()
        return !desk.handOverReports.isEmpty
      }
    }
    manager.kill()
    manager.receive()
    #expect(manager.stored.isEmpty)
    manager.stored = bag
    try manager.start()
    #expect(try !user.check())
    // The bag was for the daemon that was killed.
    if isStored { try eventually("the bag is in the log") { !desk.handOverReports.isEmpty } }
    #expect(desk.handOverReports.count == (isStored ? 1 : 0))
    #expect(desk.handOverReports.allSatisfy { $0.contains(" 0 kept, ") && $0.contains("its state does not open") })
    try user.expectKeptConnection()
  }

  @Test("A daemon that is killed at any time of its start leaves the state whole", arguments: 0..<6)
  func anyTime(sixth: Int) throws {
    let user = try RestartedUser()
    try user.manager.stop()
    user.ask()
    try user.manager.start(waits: false)
    usleep(UInt32(user.startTime * Double(sixth) / 6 * 1_000_000))
    user.manager.kill()
    try user.manager.start()
    try user.check()
    try user.expectKeptConnection()
  }
}

/// A connection that listens to an instance with a user, and connects again when it is closed.
private final class RestartedUser {
  let desk: Desk
  let manager: ServiceManager
  /// The seconds of the first start.
  let startTime: Double
  private var line: Line
  private var question: Int?
  /// The cursors of the events that have come.
  private var cursors: [String] = []

  private static let subscription: JSONObject = ["instances": ["desk"], "types": ["instanceUpdated"]]

  init() throws {
    desk = try Desk()
    manager = try ServiceManager(desk)
    startTime = try manager.start()
    line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    try line.call("events.subscribe", .object(Self.subscription))
    try update()
  }

  /// Sends a request, which also a later daemon may answer.
  func ask() { question = line.begin("daemon.info") }

  /// Checks that the running daemon has lost nothing. Connects again if the connection was closed.
  ///
  /// - Returns: whether the connection was kept.
  @discardableResult
  func check() throws -> Bool {
    var isKept = try question.map { try line.isAnswered($0) } ?? true
    question = nil
    if isKept { isKept = try line.isAnswered(line.begin("daemon.info")) }
    if !isKept {
      line = try desk.connect()
      let since: JSONObject = ["since": .string(cursors.last ?? "")]
      try line.call("events.subscribe", .object(Self.subscription.merged(with: since)))
    }
    #expect(try line.call("token.get", ["instance": "desk"])["token"] != nil)
    #expect(try desk.user(on: line)["externalId"] == "alice")
    #expect(try line.call("instance.get", ["instance": "desk"])["labels"]?["n"] == .string("\(cursors.count)"))
    try update()
    let all = try line.call("events.list", .object(Self.subscription))["events"]?.arrayValue ?? []
    #expect(all.compactMap { $0["cursor"]?.stringValue } == cursors)
    return isKept
  }

  /// Checks that the next restart keeps the connection.
  func expectKeptConnection() throws {
    try manager.stop()
    ask()
    try manager.start()
    #expect(try check())
  }

  /// Changes the instance, and waits for the event. An event that came twice would be in its place.
  private func update() throws {
    try line.call("instance.update", ["instance": "desk", "labels": ["n": .string("\(cursors.count + 1)")]])
    let event = try line.notification("events.event")["event"]
    cursors.append(try #require(event?["cursor"]?.stringValue))
  }
}
