import Glibc
import Linux
import Testing

struct UnixAddressTests {
  @Test func `A path has 1 to 107 bytes and no NUL`() {
    #expect(UnixAddress(path: "") == nil)
    #expect(UnixAddress(path: "/a\0b") == nil)
    #expect(UnixAddress(path: String(repeating: "a", count: 108)) == nil)
    #expect(UnixAddress(path: String(repeating: "é", count: 54)) == nil)
    #expect(UnixAddress(path: String(repeating: "a", count: 107)) != nil)
  }

  @Test func `A bound socket has its path, others have none`() throws {
    let path = "/tmp/sdkd-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    let address = try #require(UnixAddress(path: path))
    let socket = OwnedDescriptor(UnixAddress.makeSocket())
    #expect(UnixAddress.path(of: socket.raw) == nil)
    #expect(address.withPointer { bind(socket.raw, $0, $1) } == 0)
    defer { unlink(path) }
    #expect(UnixAddress.path(of: socket.raw) == path)
    #expect(UnixAddress.path(of: STDIN_FILENO) == nil)
  }
}
