import CLinux
import Glibc
import Linux
import Testing

@testable import Systemd

@Suite struct ActivatedSocketsTests {
  private static func listener(_ directory: TemporaryDirectory) throws -> Int32 {
    let socket = UnixAddress.makeSocket()
    let address = try #require(UnixAddress(path: directory.file("sdkd.sock")))
    #expect(address.withPointer { bind(socket, $0, $1) } == 0)
    #expect(listen(socket, 4096) == 0)
    return socket
  }

  /// Returns the inode of the open file behind a descriptor; `nil` if the descriptor is closed.
  private static func inode(_ fileDescriptor: Int32) -> UInt64? {
    var status = stat()
    return fstat(fileDescriptor, &status) == 0 ? UInt64(status.st_ino) : nil
  }

  @Test func adoptsAListener() throws {
    let directory = try TemporaryDirectory()
    let socket = try Self.listener(directory)
    defer { close(socket) }
    #expect(fcntl(socket, F_SETFD, 0) == 0)
    let passed = ActivatedSockets.adopt([(socket, "sdkd.socket")], where: Self.isKnown)
    let expected = ActivatedSocket(
      fileDescriptor: socket, name: "sdkd.socket", path: directory.file("sdkd.sock"))
    #expect(passed.sockets == [expected])
    #expect(passed.refused.isEmpty)
    #expect(fcntl(socket, F_GETFD) & FD_CLOEXEC != 0)
  }

  private static func isKnown(_ name: String) -> Bool { name == "sdkd.socket" }

  // Each test below runs in a process of its own: open descriptors and the environment belong to the whole process.

  @Test func takesFromTheEnvironmentOnce() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let socket = try Self.listener(directory)
      // The test library may have this descriptor open, so restore it before the library uses it again.
      let saved = fcntl(ActivatedSockets.firstDescriptor, F_DUPFD_CLOEXEC, 100)
      dup2(socket, ActivatedSockets.firstDescriptor)
      setenv("LISTEN_PID", String(getpid()), 1)
      setenv("LISTEN_FDS", "1", 1)
      setenv("LISTEN_FDNAMES", "sdkd.socket", 1)
      let sockets = try? ActivatedSockets.take(where: Self.isKnown).sockets
      let again = try? ActivatedSockets.take(where: Self.isKnown).sockets
      let descriptorFlags = fcntl(ActivatedSockets.firstDescriptor, F_GETFD)
      if saved >= 0 { dup2(saved, ActivatedSockets.firstDescriptor) }
      #expect(sockets?.map(\.name) == ["sdkd.socket"])
      #expect(sockets?.map(\.fileDescriptor) == [3])
      #expect(sockets?.first?.path == directory.file("sdkd.sock"))
      #expect(descriptorFlags & FD_CLOEXEC != 0)
      #expect(again == [])
      #expect(getenv("LISTEN_FDS") == nil)
    }
  }

  @Test func ignoresSocketsOfAnotherProcess() async {
    await #expect(processExitsWith: .success) {
      let none = try ActivatedSockets.take(where: Self.isKnown)
      setenv("LISTEN_PID", "1", 1)
      setenv("LISTEN_FDS", "1", 1)
      let others = try ActivatedSockets.take(where: Self.isKnown)
      #expect(none == .init() && others == .init())
    }
  }

  @Test func reportsNonsense() async {
    await #expect(processExitsWith: .success) {
      setenv("LISTEN_PID", String(getpid()), 1)
      setenv("LISTEN_FDS", "many", 1)
      #expect(throws: ActivationError.self) { try ActivatedSockets.take(where: Self.isKnown) }
    }
  }

  @Test("Unknown names and what does not listen are closed, and the known listener is kept")
  func closesWhatIsNotServed() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let other = try TemporaryDirectory()
      let good = try Self.listener(directory)
      let stored = try Self.listener(other)
      let datagram = cl_unix_datagram_create()
      let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
      let refused = [stored, datagram, file]
      let before = refused.map(Self.inode)
      let passed = ActivatedSockets.adopt(
        [(stored, "stored"), (datagram, "sdkd.socket"), (good, "sdkd.socket"), (file, "sdkd.socket")],
        where: Self.isKnown)
      #expect(passed.sockets.map(\.fileDescriptor) == [good])
      #expect(
        passed.refused == [
          RefusedDescriptor(fileDescriptor: stored, name: "stored", reason: .unknownName),
          RefusedDescriptor(fileDescriptor: datagram, name: "sdkd.socket", reason: .notListening),
          RefusedDescriptor(fileDescriptor: file, name: "sdkd.socket", reason: .notListening),
        ])
      // Another thread may have reused the number by now, so compare the inode.
      #expect(before.allSatisfy { $0 != nil })
      #expect(zip(refused, before).allSatisfy { Self.inode($0) != $1 })
      #expect(ActivatedSockets.isListeningUnixStream(good))
    }
  }

  @Test("Many closed descriptors have one sentence for each name, and at most nine in all")
  func manyRefusals() {
    var passed = ActivatedSockets.Passed()
    passed.refused = (Int32(0)..<2000).map { .init(fileDescriptor: 3 + $0, name: "stored", reason: .unknownName) }
    #expect(passed.refusals.count == 1 && passed.refusedNames == ["stored"])
    #expect(
      passed.refusals.first?.hasPrefix("2000 descriptors (stored) from the service manager were closed: ") == true)
    passed.refused += (Int32(0)..<2000).map { .init(fileDescriptor: 3000 + $0, name: "n\($0)", reason: .notListening) }
    #expect(passed.refusals.count == 9 && passed.refusedNames.count == 256)
    #expect(passed.refusals[1].hasPrefix("Descriptor 3000 (n0) from the service manager was closed: "))
    #expect(passed.refusals[8] == "1993 descriptors of other names from the service manager were closed.")
    #expect(ActivatedSockets.Passed().refusals.isEmpty)
  }

  @Test("A refusal names the descriptor and the setting of the socket unit")
  func aRefusalNamesTheSetting() {
    func text(_ reason: RefusedDescriptor.Reason) -> String {
      RefusedDescriptor(fileDescriptor: 4, name: "quiet", reason: reason).description
    }
    #expect(text(.unknownName).contains("4 (quiet)") && text(.unknownName).contains("FileDescriptorName=sdkd.socket"))
    #expect(text(.notListening).contains("4 (quiet)") && text(.notListening).contains("Accept=no"))
  }
}
