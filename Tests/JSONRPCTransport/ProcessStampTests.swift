import Glibc
import Testing

@testable import JSONRPCTransport

@Suite struct ProcessStampTests {
  private func stat(name: String = "front desk", state: String = "S") -> String {
    "812 (\(name)) \(state) 1 812 812 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 5571301 9 10\n"
  }
  private let status = "Name:\tx\nUmask:\t0022\nUid:\t1000\t1001\t1002\t1003\nGid:\t50\t51\t52\t53\nGroups:\t7\n"

  @Test func theStartAndTheEffectiveIds() throws {
    let stamp = try #require(ProcessStamp(stat: stat(), status: status))
    #expect(stamp.start == 5_571_301 && stamp.uid == 1001 && stamp.gid == 51)
  }

  @Test(arguments: ["a) S 1 1 1 1 (b", "x) Z 1", ")", "\u{FFFD} \u{FFFD}"])
  func aNameCanSayAnything(name: String) throws {
    #expect(ProcessStamp(stat: stat(name: name), status: status) == ProcessStamp(stat: stat(), status: status))
  }

  @Test(arguments: ["Z", "X", "x"])
  func whoWaitsToBeReapedHasEnded(state: String) {
    #expect(ProcessStamp(stat: stat(state: state), status: status) == nil)
  }

  @Test(arguments: ["", "812", "812 (x", "812 (x) S 1 2 3", "812 (x) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 -5"])
  func whatIsNoStatIsNoStamp(text: String) {
    #expect(ProcessStamp(stat: text, status: status) == nil)
    #expect(ProcessStamp(stat: stat(), status: text) == nil)
  }

  @Test("A state of several characters is malformed", arguments: ["Zombie", "Z\u{FFFD}\0", "S1"])
  func longState(state: String) {
    #expect(ProcessStamp(stat: stat(state: state), status: status) == nil)
  }

  @Test func thisProcessHasOneThatStays() throws {
    let stamp = try #require(ProcessStamp(of: getpid()))
    #expect(stamp == ProcessStamp(of: getpid()))
    #expect(stamp.uid == geteuid() && stamp.gid == getegid() && stamp.start > 0)
    #expect(ProcessStamp(of: .max) == nil && ProcessStamp(of: -1) == nil)
  }
}
