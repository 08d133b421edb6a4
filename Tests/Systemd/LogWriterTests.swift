import Logging
import Testing

@testable import Systemd

@Suite(.timeLimit(.minutes(1))) struct LogWriterTests {
  private func flush(_ writer: LogWriter, within time: Duration = .seconds(20)) -> Bool {
    writer.flush(deadline: ContinuousClock.now + time)
  }

  @Test func writesInOrder() throws {
    let sink = RecordingSink()
    let writer = try LogWriter(sink: sink)
    let messages = (0..<5000).map { "line \($0)" }
    for message in messages { writer.write(record(message)) }
    #expect(flush(writer))
    #expect(sink.messages == messages)
    #expect(writer.droppedCount == 0)
    writer.close()
  }

  @Test func dropsAndSaysSo() throws {
    let sink = RecordingSink(held: true)
    let writer = try LogWriter(sink: sink, capacity: 10)
    writer.write(record("held"))
    #expect(sink.waitUntilEntered())
    for number in 0..<25 { writer.write(record("line \(number)")) }
    #expect(writer.droppedCount == 15)
    #expect(writer.lostAudit.count == 0 && writer.lostAudit.last == nil)
    sink.release()
    #expect(flush(writer))
    #expect(sink.messages == ["held"] + (0..<10).map { "line \($0)" } + ["15 log lines dropped"])
    #expect(sink.all.last?.level == .warning)
    #expect(sink.all.last?.metadata.first?.key == "audit")

    writer.write(record("after"))
    #expect(flush(writer))
    #expect(sink.messages.last == "after")
    writer.close()
  }

  @Test func theAuditHasRoomOfItsOwnAndItsLossIsAudited() throws {
    let sink = RecordingSink(held: true)
    let writer = try LogWriter(sink: sink, level: .error, capacity: 10)
    writer.write(record("held"))
    #expect(sink.waitUntilEntered())
    for number in 0..<25 { writer.write(record("line \(number)")) }
    for number in 0..<13 {
      writer.write(LogRecord(audit: "audit \(number)", messageID: "0", metadata: ["outcome": "ok"]))
    }
    #expect(writer.droppedCount == 18)
    #expect(writer.lostAudit.count == 3 && writer.lostAudit.last != nil)
    sink.release()
    #expect(flush(writer))
    #expect(sink.messages.filter { $0.hasPrefix("audit ") } == (0..<10).map { "audit \($0)" })
    #expect(sink.messages.contains("15 log lines dropped"))
    let lost = sink.all.first { $0.message.hasPrefix("3 audit records lost") }
    #expect(lost?.isAudit == true)
    #expect(lost?.level == .notice)
    #expect(lost?.metadata.first { $0.key == "count" }?.value == "3")
    #expect(lost?.metadata.first?.key == "audit")
    writer.close()
  }

  @Test func boundsTheBytes() throws {
    let sink = RecordingSink(held: true)
    let writer = try LogWriter(sink: sink, byteCapacity: 256 << 10)
    writer.write(record("held"))
    #expect(sink.waitUntilEntered())
    let long = String(repeating: "x", count: 1 << 20)
    for _ in 0..<100 { writer.write(record(long)) }
    #expect(writer.droppedCount > 80 && writer.droppedCount < 90)
    sink.release()
    #expect(flush(writer))
    writer.close()
  }

  @Test func flushGivesUpAtTheDeadline() throws {
    let sink = RecordingSink(held: true)
    let writer = try LogWriter(sink: sink)
    writer.write(record("held"))
    #expect(!flush(writer, within: .milliseconds(20)))
    #expect(!flush(writer, within: .seconds(-5)))
    sink.release()
    #expect(flush(writer))
    writer.close()
  }

  @Test func reportsFailedWritesOnceThatWorks() throws {
    let sink = RecordingSink(broken: true)
    let writer = try LogWriter(sink: sink)
    for _ in 0..<3 { writer.write(record("lost")) }
    #expect(flush(writer))
    #expect(writer.droppedCount == 3)
    sink.repair()
    writer.write(record("back"))
    #expect(flush(writer))
    #expect(sink.messages == ["back", "3 log lines dropped"])
    writer.close()
  }

  @Test func closingWritesWhatWaits() throws {
    let sink = RecordingSink(held: true)
    let writer = try LogWriter(sink: sink)
    for number in 0..<3 { writer.write(record("\(number)")) }
    writer.close()
    writer.write(record("late"))
    sink.release()
    #expect(flush(writer))
    #expect(sink.messages == ["0", "1", "2"])
    #expect(writer.droppedCount == 1)
    #expect(flush(writer))
  }

  @Test func manyThreads() async throws {
    let sink = RecordingSink()
    let writer = try LogWriter(sink: sink)
    await withDiscardingTaskGroup { group in
      for task in 0..<8 {
        group.addTask { for number in 0..<500 { writer.write(record("\(task) \(number)")) } }
      }
    }
    #expect(flush(writer))
    #expect(sink.messages.count == 4000)
    for task in 0..<8 {
      #expect(sink.messages.filter { $0.hasPrefix("\(task) ") } == (0..<500).map { "\(task) \($0)" })
    }
    writer.close()
  }
}
