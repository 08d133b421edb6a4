import Linux
import Logging
import Testing

@testable import Systemd

@Suite struct JournalDestinationTests {
  @Test func nativeProtocol() {
    let datagram = DatagramJournal.datagram([JournalField("A", "b=c"), JournalField("D", "e\nf")])
    #expect(datagram == Array("A=b=c\nD\n\u{3}\0\0\0\0\0\0\0e\nf\n".utf8))
  }

  @Test func lineBreaksMakeNoFields() throws {
    let journal = try DatagramReceiver()
    let sink = JournalSink(destination: try DatagramJournal(path: journal.path))
    #expect(sink.write(record("hello\nPRIORITY=0\n", metadata: ["instance": "a\nMESSAGE=b\n\u{0}"])))
    let entry = try #require(journal.receiveEntry())
    #expect(entry.filter { $0.name == "PRIORITY" }.map(\.value) == ["6"])
    #expect(entry.filter { $0.name == "MESSAGE" }.map(\.value) == ["hello\nPRIORITY=0\n"])
    #expect(entry.filter { $0.name == "SDKD_INSTANCE" }.map(\.value) == ["a\nMESSAGE=b\n\u{0}"])
  }

  @Test func theLongestRecordFitsADatagram() throws {
    let journal = try DatagramReceiver()
    let sink = JournalSink(destination: try DatagramJournal(path: journal.path))
    let long = String(repeating: "€", count: 100_000)
    let pairs = (0..<500).map { ("key\($0)", long) }
    let metadata = Dictionary(uniqueKeysWithValues: pairs).mapValues { value in "\(value)" as Logger.MetadataValue }
    #expect(sink.write(record(long, metadata: metadata)))
    let entry = try #require(journal.receiveEntry())
    let message = try #require(entry.first { $0.name == "MESSAGE" }).value
    #expect(message.hasSuffix("€…") && message.utf8.count <= LogRecord.maximumMessageLength)
    #expect(entry.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } < 64 << 10)
  }

  @Test func aMissingReceiverIsAnErrorAndTheNextOneIsFound() throws {
    let directory = try TemporaryDirectory()
    let journal = try DatagramJournal(path: directory.file("none"))
    #expect(throws: SystemCallError.self) { try journal.send([JournalField("MESSAGE", "x")]) }
    #expect(!JournalSink(destination: journal).write(record("x")))
    #expect(throws: SystemCallError.self) { try DatagramJournal(path: String(repeating: "x", count: 108)) }
    #expect(throws: SystemCallError.self) { try DatagramJournal(path: "") }
  }

  @Test func libsystemdTakesAnyEntry() throws {
    // Without journald, libsystemd succeeds and writes nothing. With journald, this test leaves an entry in the
    // journal.
    try LibsystemdJournal().send([
      JournalField("MESSAGE", "a test of sdkd\nof two lines"), JournalField("PRIORITY", "7"),
    ])
  }
}
