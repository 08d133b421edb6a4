import Glibc
import Synchronization
import Testing

@testable import Systemd

@Suite struct NotifierTests {
  /// A recorder of the messages of its notifiers.
  private final class Sent: Sendable {
    private let messages = Mutex<[String]>([])
    var all: [String] { messages.withLock { $0 } }

    func notifier(answer: Int32 = 1) -> Notifier {
      Notifier { message in
        self.messages.withLock { $0.append(message) }
        return answer
      }
    }
  }

  @Test func messages() {
    let sent = Sent()
    let notifier = sent.notifier()
    #expect(notifier.ready(status: "2 instances"))
    #expect(notifier.ready())
    #expect(notifier.status("3 instances"))
    #expect(notifier.stopping(status: "draining"))
    #expect(notifier.extendTimeout(microseconds: 5_000_000))
    #expect(notifier.watchdog())
    #expect(
      sent.all == [
        "READY=1\nSTATUS=2 instances", "READY=1", "STATUS=3 instances", "STOPPING=1\nSTATUS=draining",
        "EXTEND_TIMEOUT_USEC=5000000", "WATCHDOG=1",
      ])
  }

  @Test("Only a name that a descriptor can have is removed from the descriptor store")
  func storedDescriptors() {
    let sent = Sent()
    let notifier = sent.notifier()
    #expect(notifier.removeStored(named: "bag-1"))
    for name in ["", "a\nREADY=1", "a:b", "ä"] { #expect(!notifier.removeStored(named: name), "\(name)") }
    #expect(sent.all == ["FDSTOREREMOVE=1\nFDNAME=bag-1"])
  }

  @Test func reloadingCarriesTheMonotonicTime() throws {
    let sent = Sent()
    sent.notifier().reloading()
    let lines = try #require(sent.all.first).split(separator: "\n")
    #expect(lines.first == "RELOADING=1")
    let microseconds = try #require(lines.last?.split(separator: "=").last.flatMap { Int64($0) })
    #expect(lines.count == 2 && microseconds > 0)
  }

  @Test func statusStaysOneLine() {
    let sent = Sent()
    sent.notifier().status("a\nREADY=1\r\u{2028}b\u{0}\u{1B}[2J")
    #expect(sent.all == ["STATUS=a READY=1  b  [2J"])
  }

  @Test func statusIsCut() {
    let line = Notifier.sanitised(String(repeating: "é", count: 4000))
    #expect(line.utf8.count == Notifier.maximumStatusLength)
  }

  @Test(arguments: [Int32(0), -2]) func failureAnswersFalse(answer: Int32) {
    #expect(!Sent().notifier(answer: answer).ready())
  }

  // Each test below runs in a process of its own, since all tests of a process share the environment.

  @Test func deliversToTheManagersSocketAndKeepsTheVariable() async {
    await #expect(processExitsWith: .success) {
      let manager = try DatagramReceiver()
      setenv("NOTIFY_SOCKET", manager.path, 1)
      #expect(Notifier.isWanted)
      let notifier = Notifier()
      #expect(notifier.ready(status: "1 instance"))
      #expect(manager.receiveText() == "READY=1\nSTATUS=1 instance")
      #expect(notifier.watchdog())
      #expect(manager.receiveText() == "WATCHDOG=1")
      // The receiver does not close the descriptor that comes with the message, so the barrier times out.
      #expect(!notifier.barrier(timeout: .milliseconds(1)))
      #expect(manager.receiveText() == "BARRIER=1")
    }
  }

  @Test func doesNothingByHand() async {
    await #expect(processExitsWith: .success) {
      unsetenv("NOTIFY_SOCKET")
      #expect(!Notifier.isWanted)
      #expect(!Notifier().ready())
      #expect(!Notifier().barrier(timeout: .seconds(3600)))
    }
  }

  @Test func survivesAManagerThatIsGone() async {
    await #expect(processExitsWith: .success) {
      setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1)
      #expect(!Notifier().status("anyone?"))
    }
  }
}
