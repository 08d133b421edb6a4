import CLinux
import Foundation
import Glibc
import Testing

@testable import JSONRPCTransport

/// Processes pinned by a descriptor, as from Linux 6.5 on, and by their start time, as on older kernels. One after the
/// other, because one test gives numbers of ended processes to new ones.
@Suite(.serialized) struct PinnedProcessTests {
  enum Means: CaseIterable {
    case descriptor
    case startTime

    func pin(_ pid: pid_t, uid: UInt32 = geteuid(), gid: UInt32 = getegid()) -> PinnedProcess? {
      let descriptor = self == .descriptor ? cl_pidfd_open(pid) : -ENOPROTOOPT
      return PinnedProcess(pid: pid, uid: uid, gid: gid, descriptor: descriptor)
    }
  }

  @Test(arguments: Means.allCases)
  func whoLivesIsLookedAtOnce(means: Means) throws {
    let sleeper = try Sleeper()
    let pinned = try #require(means.pin(sleeper.pid))
    #expect(pinned.once { $0 } == sleeper.pid)
    #expect(pinned.once { _ in Int32(-1) } == sleeper.pid)
    sleeper.reap()
    #expect(pinned.once { _ in Int32(-1) } == sleeper.pid, "what was seen stays, as the credentials do")
  }

  @Test(arguments: Means.allCases)
  func whoHasEndedIsNotLookedAt(means: Means) throws {
    let sleeper = try Sleeper()
    let (unreaped, reaped) = (try #require(means.pin(sleeper.pid)), try #require(means.pin(sleeper.pid)))
    sleeper.end()
    #expect(unreaped.once { $0 } == nil)
    sleeper.reap()
    #expect(unreaped.once { $0 } == nil)
    #expect(reaped.once { $0 } == nil)
  }

  @Test(arguments: Means.allCases)
  func whatWasSeenOfOneThatEndsMeanwhileIsForgotten(means: Means) throws {
    let sleeper = try Sleeper()
    let pinned = try #require(means.pin(sleeper.pid))
    let seen = pinned.once { pid in
      kill(pid, SIGKILL)
      var information = siginfo_t()
      _ = waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT)
      return "kiosk.service"
    }
    #expect(seen == nil)
    #expect(pinned.once { _ in "kiosk.service" } == nil)
  }

  @Test(.enabled(if: getuid() == 0, "needs root to choose the number of a new process"), arguments: Means.allCases)
  func aReusedNumberIsNotTakenForThePeer(means: Means) throws {
    // A thread of another test can take the number first and keep it, so there are several attempts.
    for _ in 0..<10 {
      let first = try Sleeper()
      let pinned = try #require(means.pin(first.pid))
      let stamp = try #require(ProcessStamp(of: first.pid))
      // The kernel counts start times in hundredths of a second, so let two of them pass.
      usleep(20_000)
      first.reap()
      guard let second = try Sleeper.reusing(first.pid) else { continue }
      #expect(second.pid == first.pid)
      #expect(ProcessStamp(of: second.pid)?.start != stamp.start)
      #expect(pinned.once { $0 } == nil)
      return
    }
    Issue.record("no process with the number of an ended one could be made")
  }

  @Test func withoutADescriptorTheProcessMustHaveThePeersUserAndGroup() throws {
    let sleeper = try Sleeper()
    #expect(Means.startTime.pin(sleeper.pid, uid: 12_345) == nil, "the number was used again before we looked")
    #expect(Means.startTime.pin(sleeper.pid, gid: 12_345) == nil)
    #expect(Means.startTime.pin(sleeper.pid) != nil)
  }

  @Test func whoIsGoneOrOfAnotherNamespaceCannotBePinned() throws {
    let sleeper = try Sleeper()
    for error in [ESRCH, EINVAL] {
      #expect(PinnedProcess(pid: sleeper.pid, uid: geteuid(), gid: getegid(), descriptor: -error) == nil)
    }
    let descriptor = cl_pidfd_open(sleeper.pid)
    #expect(PinnedProcess(pid: 0, uid: geteuid(), gid: getegid(), descriptor: descriptor) == nil)
    #expect(!isOpen(descriptor, of: sleeper))
    #expect(PinnedProcess(pid: .max, uid: geteuid(), gid: getegid(), descriptor: -ENOPROTOOPT) == nil)
  }

  @Test func theDescriptorIsFreeOnceItWasLookedAtOrNobodyWill() throws {
    let sleeper = try Sleeper()
    let first = cl_pidfd_open(sleeper.pid)
    let pinned = PinnedProcess(pid: sleeper.pid, uid: 0, gid: 0, descriptor: first)
    #expect(isOpen(first, of: sleeper))
    _ = pinned?.once { $0 }
    #expect(!isOpen(first, of: sleeper))
    let second = cl_pidfd_open(sleeper.pid)
    do { _ = PinnedProcess(pid: sleeper.pid, uid: 0, gid: 0, descriptor: second) }
    #expect(!isOpen(second, of: sleeper))
  }

  @Test func aConnectionKnowsTheProcessThatMadeIt() async throws {
    try await withServer { server in
      let peer = try await server.peer()
      try await waitUntil("connected") { server.program.seen.connections.count == 1 }
      let connection = try #require(server.program.seen.connections.first)
      #expect(connection.peer.pid == getpid())
      #expect(connection.peer.process?.once { $0 } == getpid())
      withExtendedLifetime(peer) {}
    }
  }

  /// Whether a descriptor refers to the process of `sleeper`. Its number alone may belong to another test by now.
  private func isOpen(_ descriptor: Int32, of sleeper: Sleeper) -> Bool {
    let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8)
    return text?.contains("Pid:\t\(sleeper.pid)\n") ?? false
  }
}
