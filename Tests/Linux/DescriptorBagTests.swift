import CLinux
import Glibc
import Linux
import Testing

@Suite struct DescriptorBagTests {
  /// A pipe whose read end can be recognized by the byte in it.
  private static func marked(_ byte: UInt8) throws -> OwnedDescriptor {
    let ends = try #require(OwnedDescriptor.pipe())
    var byte = byte
    #expect(write(ends.write.raw, &byte, 1) == 1)
    return ends.read
  }

  private static func mark(of descriptor: CInt) -> UInt8? {
    var byte: UInt8 = 0
    return read(descriptor, &byte, 1) == 1 ? byte : nil
  }

  private static func inode(_ descriptor: CInt) -> UInt64 {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : 0
  }

  @Test("Descriptors and bytes come out of a bag as they went in", arguments: [0, 1, 252, 253, 254, 600])
  func roundTrip(count: Int) throws {
    let state = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
    let originals = try (0..<count).map { try Self.marked(UInt8(truncatingIfNeeded: $0)) }
    let inodes = originals.map { Self.inode($0.raw) }
    let bag = try DescriptorBag.pack(originals.map(\.raw), state: state)
    #expect(fcntl(bag.raw, F_GETFD) & FD_CLOEXEC != 0)
    for original in originals { original.close() }
    let contents = DescriptorBag.unpack(bag.raw, limit: 1000)
    defer { for descriptor in contents.descriptors { close(descriptor) } }
    #expect(contents.state == state)
    #expect(contents.descriptors.map(Self.inode) == inodes)
    #expect(contents.descriptors.map(Self.mark) == (0..<count).map { UInt8?(UInt8(truncatingIfNeeded: $0)) })
    #expect(contents.descriptors.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
    let again = DescriptorBag.unpack(bag.raw, limit: 1000)
    #expect(again.state == nil && again.descriptors.isEmpty, "a bag is emptied")
  }

  @Test("Descriptors beyond the limit are closed")
  func limit() throws {
    let originals = try (0..<300).map { try Self.marked(UInt8(truncatingIfNeeded: $0)) }
    let bag = try DescriptorBag.pack(originals.map(\.raw), state: [1])
    let contents = DescriptorBag.unpack(bag.raw, limit: 10)
    defer { for descriptor in contents.descriptors { close(descriptor) } }
    #expect(contents.descriptors.map(Self.inode) == originals.prefix(10).map { Self.inode($0.raw) })
  }

  @Test("A bag of another program gives nothing, and does not block")
  func foreignBags() throws {
    var ends: [CInt] = [-1, -1]
    #expect(cl_socket_pair(&ends) == 0)
    defer { close(ends[1]) }
    // An open and empty pair, then messages without descriptors, then descriptors without a state.
    #expect(DescriptorBag.unpack(ends[1], limit: 10).state == nil)
    for _ in 0..<20 { #expect(cl_send_descriptors(ends[0], [], 0) == 0) }
    #expect(DescriptorBag.unpack(ends[1], limit: 10).descriptors.isEmpty)
    var room = [CInt](repeating: -1, count: Int(CL_MOST_DESCRIPTORS))
    while cl_receive_descriptors(ends[1], &room) == 0 {}
    let pipe = try Self.marked(7)
    #expect(cl_send_descriptors(ends[0], [pipe.raw, pipe.raw], 2) == 0)
    close(ends[0])
    let contents = DescriptorBag.unpack(ends[1], limit: 10)
    #expect(contents.state == nil, "a pipe is not read, because that could block")
    #expect(contents.descriptors.count == 1)
    for descriptor in contents.descriptors { close(descriptor) }
    for descriptor in [pipe.raw, CInt(1 << 20)] {
      let none = DescriptorBag.unpack(descriptor, limit: 10)
      #expect(none.state == nil && none.descriptors.isEmpty)
    }
  }
}
