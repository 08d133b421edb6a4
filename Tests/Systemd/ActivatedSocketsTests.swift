import CLinux
import Glibc
import Testing

@testable import Systemd

@Suite struct ActivatedSocketsTests {
  private static func listener(_ directory: TemporaryDirectory, listens: Bool = true) throws -> Int32 {
    let socket = cl_unix_stream_create()
    let address = try #require(UnixAddress(path: directory.file("sdkd.sock")))
    #expect(address.withSockaddr { bind(socket, $0, $1) } == 0)
    if listens { #expect(listen(socket, 4096) == 0) }
    return socket
  }

  /// Which file a number stands for; `nil` for none.
  private static func inode(_ fileDescriptor: Int32) -> UInt64? {
    var status = stat()
    return fstat(fileDescriptor, &status) == 0 ? UInt64(status.st_ino) : nil
  }

  @Test func adoptsAListener() throws {
    let directory = try TemporaryDirectory()
    let socket = try Self.listener(directory)
    defer { close(socket) }
    #expect(fcntl(socket, F_SETFD, 0) == 0)
    let sockets = try ActivatedSockets.adopt([(socket, "sdkd.socket")])
    let expected = ActivatedSocket(
      fileDescriptor: socket, name: "sdkd.socket", path: directory.file("sdkd.sock"))
    #expect(sockets == [expected])
    #expect(fcntl(socket, F_GETFD) & FD_CLOEXEC != 0)
  }

  @Test func refusesWhatDoesNotListen() throws {
    let directory = try TemporaryDirectory()
    let socket = try Self.listener(directory, listens: false)
    let expected = ActivationError.wrongSocket(fileDescriptor: socket, name: "quiet")
    #expect(throws: expected) { try ActivatedSockets.adopt([(socket, "quiet")]) }
    #expect(expected.description.contains("(quiet)"))
    #expect(expected.description.contains("Accept=no"))
  }

  @Test func refusesDatagramSocketsAndFiles() throws {
    for fileDescriptor in [cl_unix_datagram_create(), open("/dev/null", O_RDONLY | O_CLOEXEC)] {
      #expect(throws: ActivationError.self) { try ActivatedSockets.adopt([(fileDescriptor, "x")]) }
    }
  }

  // In a process of their own: which descriptors are open and what they are is a matter of the whole process.

  @Test func takesFromTheEnvironmentOnce() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let socket = try Self.listener(directory)
      // Whatever the test library has open there comes back before it is used again.
      let saved = fcntl(ActivatedSockets.firstDescriptor, F_DUPFD_CLOEXEC, 100)
      dup2(socket, ActivatedSockets.firstDescriptor)
      setenv("LISTEN_PID", String(getpid()), 1)
      setenv("LISTEN_FDS", "1", 1)
      setenv("LISTEN_FDNAMES", "front", 1)
      let sockets = try? ActivatedSockets.take()
      let again = try? ActivatedSockets.take()
      let descriptorFlags = fcntl(ActivatedSockets.firstDescriptor, F_GETFD)
      if saved >= 0 { dup2(saved, ActivatedSockets.firstDescriptor) }
      #expect(sockets?.map(\.name) == ["front"])
      #expect(sockets?.map(\.fileDescriptor) == [3])
      #expect(sockets?.first?.path == directory.file("sdkd.sock"))
      #expect(descriptorFlags & FD_CLOEXEC != 0)
      #expect(again == [])
      #expect(getenv("LISTEN_FDS") == nil)
    }
  }

  @Test func ignoresSocketsOfAnotherProcess() async {
    await #expect(processExitsWith: .success) {
      let none = try ActivatedSockets.take()
      setenv("LISTEN_PID", "1", 1)
      setenv("LISTEN_FDS", "1", 1)
      let others = try ActivatedSockets.take()
      #expect(none == [] && others == [])
    }
  }

  @Test func reportsNonsense() async {
    await #expect(processExitsWith: .success) {
      setenv("LISTEN_PID", String(getpid()), 1)
      setenv("LISTEN_FDS", "many", 1)
      #expect(throws: ActivationError.self) { try ActivatedSockets.take() }
    }
  }

  @Test func closesAllWhenOneIsWrong() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let good = try Self.listener(directory)
      let wrong = cl_unix_datagram_create()
      let before = [Self.inode(good), Self.inode(wrong)]
      #expect(throws: ActivationError.wrongSocket(fileDescriptor: wrong, name: "b")) {
        try ActivatedSockets.adopt([(good, "a"), (wrong, "b")])
      }
      // Another thread may have been given the number by now, but never the socket.
      #expect(before.allSatisfy { $0 != nil })
      #expect(Self.inode(good) != before[0] && Self.inode(wrong) != before[1])
    }
  }
}
