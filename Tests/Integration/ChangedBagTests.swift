import CLinux
import Foundation
import Glibc
import JSONRPC
import Linux
import Testing

/// Bags that a daemon has left, and that the next one gets with other contents. The test has the part of the service
/// manager.
@Suite struct ChangedBagTests {
  /// A change of a bag with two connections.
  enum Change: CaseIterable {
    case oneByteMissing, halfOfState, formerState, stateOfOtherDaemon, stateOfOtherBoot
    case oneConnectionMissing, oneConnectionTwice, foreignDescriptors, bagOfOtherDaemon

    /// The report about the connections.
    var report: String {
      switch self {
      case .oneByteMissing, .halfOfState, .formerState, .stateOfOtherDaemon, .stateOfOtherBoot:
        "0 kept, 2 closed; its state does not open."
      case .oneConnectionMissing: "1 kept, 1 closed."
      case .oneConnectionTwice: "2 kept, 1 closed."
      case .foreignDescriptors: "2 kept, 4 closed."
      case .bagOfOtherDaemon: "2 kept, 1 closed; its state does not open."
      }
    }

    /// The number of the two connections that go on.
    var kept: Int { Int(report.prefix(1)) ?? 0 }
  }

  @Test(
    "A changed bag closes the connections that it concerns, and hardly delays the start",
    arguments: Change.allCases.filter { $0 != .stateOfOtherBoot })
  func changedBag(change: Change) throws {
    // A busy machine may delay one start, but not three.
    var ratios: [Double] = []
    repeat { ratios.append(try start(with: change)) } while ratios.count < 3 && !ratios.contains(where: { $0 < 3 })
    #expect(ratios.contains { $0 < 3 }, "\(ratios) times a start without a bag")
  }

  @Test("A bag of another boot is closed", .enabled(if: getuid() == 0, "needs root to mount"))
  func otherBoot() throws { try changedBag(change: .stateOfOtherBoot) }

  /// Starts a daemon with a changed bag. Returns how many times longer this takes than a start without a bag.
  private func start(with change: Change) throws -> Double {
    let desk = try Desk()
    let manager = try ServiceManager(desk)
    try manager.start()
    let lines = try (0..<2).map { _ in try desk.connect() }
    for line in lines { try line.call("daemon.info") }
    try manager.stop()
    // The first restart changes nothing. Its state is the former one of the second restart.
    let former = try manager.takeBag()
    try manager.store(former)
    try manager.start()
    for line in lines { try line.call("daemon.info") }
    try manager.stop()
    var bag = try manager.takeBag()
    let peers = try apply(change, former.state, to: &bag, manager)
    try manager.store(bag)
    let boot = change == .stateOfOtherBoot ? try desk.write("boot", "\(UUID().uuidString.lowercased())\n") : nil
    let time = try manager.start(boot: boot)
    let kept = try lines.filter { try $0.isAnswered($0.begin("daemon.info")) }
    #expect(kept.count == change.kept)
    for peer in peers { #expect(isClosed(peer)) }
    try eventually("the report is in the log") { !desk.handOverReports.isEmpty }
    #expect(desk.handOverReports.count == 1)
    #expect(
      desk.handOverReports.first?.contains("Connections of the former daemon: \(change.report)") == true,
      "\(desk.handOverReports)")
    try desk.connect().call("daemon.info")
    try manager.stop()
    manager.stored = []
    let usual = try manager.start()
    return time / usual
  }

  /// Changes a bag.
  ///
  /// - Parameter former: the state of an earlier bag.
  /// - Returns: the other ends of the descriptors that the next daemon must close.
  private func apply(
    _ change: Change, _ former: [UInt8], to bag: inout ServiceManager.Bag, _ manager: ServiceManager
  ) throws -> [OwnedDescriptor] {
    switch change {
    case .oneByteMissing: bag.state.removeLast()
    case .halfOfState: bag.state.removeLast(bag.state.count / 2)
    case .formerState: bag.state = former
    case .stateOfOtherDaemon: bag.state = try otherDaemon().bag.state
    case .stateOfOtherBoot: break
    case .oneConnectionMissing: bag.descriptors.removeLast().close()
    case .oneConnectionTwice: bag.descriptors.append(contentsOf: bag.descriptors.prefix(1))
    case .foreignDescriptors:
      let other = try otherDaemon()
      // No program may start meanwhile, which could inherit an end.
      let ends = Program.noFileIsBeingWritten.withLock { OwnedDescriptor.pipe() }
      let pipe = try #require(ends)
      let connection = try networkConnection()
      bag.descriptors += [OwnedDescriptor(cl_memory_file("foreign")), pipe.write, connection.passed]
      bag.descriptors += other.bag.descriptors
      return [pipe.read, connection.peer, other.peer]
    case .bagOfOtherDaemon:
      let other = try otherDaemon()
      try manager.store(other.bag)
      return [other.peer]
    }
    return []
  }

  /// Returns the bag of a daemon with another state, and the other end of the only connection in it.
  private func otherDaemon() throws -> (bag: ServiceManager.Bag, peer: OwnedDescriptor) {
    let desk = try Desk()
    let manager = try ServiceManager(desk)
    try manager.start()
    let line = try desk.connect()
    try line.call("daemon.info")
    try manager.stop()
    let peer = OwnedDescriptor(fcntl(line.descriptor, F_DUPFD_CLOEXEC, 0))
    return (try manager.takeBag(), peer)
  }

  /// Returns both ends of a TCP connection.
  private func networkConnection() throws -> (passed: OwnedDescriptor, peer: OwnedDescriptor) {
    let (port, holder) = try RawHTTP.freePort()
    defer { close(holder) }
    guard listen(holder, 1) == 0 else { throw Program.Failure(description: "the port can't listen") }
    let client = try RawHTTP(port: port)
    return (OwnedDescriptor(client.descriptor), OwnedDescriptor(accept(holder, nil, nil)))
  }

  /// Returns whether the other end of a descriptor is closed in time.
  private func isClosed(_ descriptor: OwnedDescriptor) -> Bool {
    var poller = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
    var byte: UInt8 = 0
    return poll(&poller, 1, 20_000) == 1 && read(descriptor.raw, &byte, 1) <= 0
  }
}
