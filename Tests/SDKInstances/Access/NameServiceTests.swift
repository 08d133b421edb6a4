import Glibc
import Testing

@testable import SDKInstances

struct NameServiceTests {
  /// glibc returns `ENOENT` while the server of a directory is down.
  @Test(arguments: [(Int32(0), NameService.Answer.unknown), (ENOENT, .failed), (ESRCH, .failed), (EIO, .failed)])
  func `Only a look-up without an error says that nobody has the name`(status: Int32, answer: NameService.Answer) {
    #expect(NameService.withGrowingBuffer { _, _ in (status, nil) } == answer)
  }

  @Test func `The buffer grows until the entry fits, and an entry of more than a mebibyte is a failure`() {
    #expect(NameService.withGrowingBuffer { _, size in size < 1 << 20 ? (ERANGE, nil) : (0, 7) } == .number(7))
    var sizes: [Int] = []
    #expect(
      NameService.withGrowingBuffer { _, size in
        sizes.append(size)
        return (ERANGE, nil)
      } == .failed)
    #expect(sizes == [1024, 4096, 16384, 65536, 262144, 1_048_576])
  }

  @Test func `Users and groups of this machine have their numbers`() {
    #expect(NameService.lookUp(SystemName(.users, "root")) == .number(0))
    #expect(NameService.lookUp(SystemName(.groups, "root")) == .number(0))
    #expect(NameService.lookUp(SystemName(.users, "nobody-has-this-name")) == .unknown)
    #expect(NameService.lookUp(SystemName(.groups, "nobody-has-this-name")) == .unknown)
    #expect(NameService.lookUp(SystemName(.uids, "0")) == .number(0))
    for text in ["3999999999", "4294967296", "-1", "root", ""] {
      #expect(NameService.lookUp(SystemName(.uids, text)) == .unknown, "\(text)")
    }
  }
}
