import Glibc
import Logging
import Systemd
import Testing

@Suite struct LogSystemTests {
  // In a process of its own, since a process has only one logging system.
  @Test func bootstrapsOnce() async {
    await #expect(processExitsWith: .success) {
      let journal = try DatagramReceiver()
      setenv("SDKD_JOURNAL_SOCKET", journal.path, 1)
      let writer = try LogSystem.bootstrap(level: .notice)
      let second = try LogSystem.bootstrap(level: .trace)
      #expect(second === writer)
      #expect(writer.level == .notice)

      let logger = Logger(label: "sdkd")
      logger.info("hidden")
      logger.notice("shown", metadata: ["peerUid": "1000"])
      let entry = journal.receiveEntry() ?? []
      #expect(entry.first?.name == "MESSAGE" && entry.first?.value == "shown")
      #expect(entry.contains { $0 == ("SYSLOG_IDENTIFIER", "sdkd") })
      #expect(entry.contains { $0 == ("SDKD_PEER_UID", "1000") })
      #expect(writer.flush(deadline: ContinuousClock.now + .seconds(10)))
    }
  }
}
