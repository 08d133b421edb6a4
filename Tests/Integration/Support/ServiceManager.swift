import CLinux
import Foundation
import Glibc
import Linux
import Testing

/// A service manager of one daemon, in place of systemd: it has the control socket, receives the daemon's messages, and
/// stores descriptors for the next start. A test decides when it reads messages, and can change what is stored.
final class ServiceManager {
  /// A message of the daemon with its descriptors. A barrier is answered when its message is released.
  struct Message {
    let lines: [String]
    let descriptors: [OwnedDescriptor]
  }

  /// The contents of a bag of connections.
  struct Bag {
    var state: [UInt8]
    var descriptors: [OwnedDescriptor]
  }

  /// The name of a stored bag.
  static let bagName = "sdkd.bag"

  private let desk: Desk
  private let path: String
  private let control: OwnedDescriptor
  private let notify: OwnedDescriptor
  /// The descriptors that the next daemon gets besides the control socket.
  var stored: [(name: String, descriptor: OwnedDescriptor)] = []

  init(_ desk: Desk) throws {
    self.desk = desk
    path = desk.folder.appendingPathComponent("notify").path
    control = try Self.bound(Program.streamSocket, desk.socket)
    // SOCK_DGRAM | SOCK_CLOEXEC
    notify = try Self.bound(2 | 0o2_000_000, path)
    guard listen(control.raw, 64) == 0 else { throw Program.Failure(description: "the socket can't listen") }
  }

  private static func bound(_ type: Int32, _ path: String) throws -> OwnedDescriptor {
    let descriptor = OwnedDescriptor(socket(AF_UNIX, type, 0))
    guard let address = UnixAddress(path: path), address.withPointer({ bind(descriptor.raw, $0, $1) }) == 0 else {
      throw Program.Failure(description: "no socket at \(path)")
    }
    return descriptor
  }

  // MARK: The daemon

  /// Starts the daemon with what is stored. Returns the seconds until it is ready, if this waits for that.
  @discardableResult
  func start(waits: Bool = true, boot: URL? = nil, environment: [String: String] = [:]) throws -> Double {
    receive()
    let passed = [(name: "sdkd.socket", descriptor: control)] + stored
    let variables = [
      "NOTIFY_SOCKET": path, "FDSTORE": "4", "LISTEN_FDS": "\(passed.count)",
      "LISTEN_FDNAMES": passed.map { $0.name }.joined(separator: ":"),
    ]
    let begin = ContinuousClock.now
    try desk.start(
      environment: environment.merging(variables) { $1 }, waits: waits, boot: boot, before: "export LISTEN_PID=$$",
      passing: passed.map { $0.descriptor.raw })
    return (ContinuousClock.now - begin) / .seconds(1)
  }

  /// Stops the daemon, and stores what it leaves.
  func stop() throws {
    desk.daemon?.signal(SIGTERM)
    try eventually("the daemon ends", within: 60) {
      receive()
      return desk.daemon?.exit(within: 0) != nil
    }
    receive()
    #expect(desk.daemon?.exit(within: 0) == 0, "\(desk.logs.suffix(500))")
  }

  /// Kills the daemon.
  func kill() {
    desk.daemon?.signal(SIGKILL)
    _ = desk.daemon?.exit(within: 10)
  }

  // MARK: Messages

  /// Reads messages until one has this line, and returns it.
  @discardableResult
  func message(with line: String) throws -> Message {
    var found: Message?
    try eventually("the daemon sends \(line)", within: 60) {
      while found == nil, let message = next() {
        if message.lines.contains(line) { found = message }
      }
      return found != nil
    }
    return try #require(found)
  }

  /// Reads the messages that have come, and answers barriers.
  func receive() { while next() != nil {} }

  /// Reads a message, and stores or removes descriptors as it requests. Returns `nil` if none has come.
  private func next() -> Message? {
    var buffer = [UInt8](repeating: 0, count: 8192)
    // The text stays: the other call takes the whole message and returns its descriptors only.
    let count = recv(notify.raw, &buffer, buffer.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
    guard count > 0 else { return nil }
    var room = [CInt](repeating: -1, count: Int(CL_MOST_DESCRIPTORS))
    let received = cl_receive_descriptors(notify.raw, &room)
    let message = Message(
      lines: String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").map(String.init),
      descriptors: room.prefix(max(0, Int(received))).map { OwnedDescriptor($0) })
    let name = message.lines.first { $0.hasPrefix("FDNAME=") }.map { String($0.dropFirst("FDNAME=".count)) }
    if let name, message.lines.contains("FDSTORE=1") {
      // Without it, systemd closes a bag when the daemon ends.
      #expect(message.lines.contains("FDPOLL=0"))
      stored += message.descriptors.map { (name: name, descriptor: $0) }
    }
    if let name, message.lines.contains("FDSTOREREMOVE=1") { stored.removeAll { $0.name == name } }
    return message
  }

  // MARK: Stored bags

  /// Drops the messages that were not read, and closes what is stored.
  func forget() {
    receive()
    stored = []
  }

  /// Takes the only bag out of the store, and everything out of the bag.
  func takeBag() throws -> Bag {
    let bag = try #require(stored.first)
    #expect(stored.count == 1 && bag.name == Self.bagName)
    stored = []
    let contents = DescriptorBag.unpack(bag.descriptor.raw, limit: 1000)
    let descriptors = contents.descriptors.map { OwnedDescriptor($0) }
    return Bag(state: try #require(contents.state), descriptors: descriptors)
  }

  /// Stores a bag with these contents, and closes the descriptors.
  func store(_ bag: Bag) throws {
    let end = try DescriptorBag.pack(bag.descriptors.map(\.raw), state: bag.state)
    for descriptor in bag.descriptors { descriptor.close() }
    stored.append((name: Self.bagName, descriptor: end))
  }
}
