import Linux
import Logging
import Testing

@testable import Systemd

@Suite(.timeLimit(.minutes(1))) struct QueuedLogHandlerTests {
  private let sink = RecordingSink()
  private let writer: LogWriter

  init() throws { writer = try LogWriter(sink: sink) }

  private func logger(_ provider: Logger.MetadataProvider? = nil) -> Logger {
    Logger(label: "sdkd.test") { QueuedLogHandler(label: $0, writer: writer, metadataProvider: provider) }
  }

  private func records() -> [LogRecord] {
    #expect(writer.flush(deadline: ContinuousClock.now + .seconds(20)))
    writer.close()
    return sink.all
  }

  @Test func theLevelIsShared() {
    let logger = logger()
    logger.debug("hidden")
    writer.setLevel(.debug)
    logger.debug("shown")
    writer.setLevel(.error)
    logger.warning("hidden")
    #expect(logger.logLevel == .error)
    #expect(records().map(\.message) == ["shown"])
  }

  @Test func levelAndMetadataAreValues() {
    var first = logger()
    first.logLevel = .debug
    first[metadataKey: "only"] = "first"
    var second = first
    second.logLevel = .error
    second[metadataKey: "only"] = "second"
    #expect(first.logLevel == .debug && second.logLevel == .error)
    #expect(first[metadataKey: "only"] == "first" && second[metadataKey: "only"] == "second")
    writer.close()
  }

  @Test func metadataOfTheCallWins() throws {
    var logger = logger(Logger.MetadataProvider { ["a": "provider", "b": "provider", "c": "provider"] })
    logger[metadataKey: "a"] = "logger"
    logger[metadataKey: "d"] = "logger"
    logger.info("x", metadata: ["b": "call"])
    let metadata = try #require(records().first).metadata
    #expect(metadata.map(\.key) == ["a", "b", "c", "d"])
    #expect(metadata.map(\.value) == ["provider", "call", "provider", "logger"])
  }

  @Test func innerMetadataIsFlattened() throws {
    let deep: Logger.Metadata = ["a": ["b": ["c": ["d": ["e": ["f": ["g": "h"]]]]]]]
    logger().info("x", metadata: deep.merging(["list": ["1", "2"]]) { $1 })
    let metadata = try #require(records().first).metadata
    #expect(metadata.map(\.key) == ["a.b.c.d.e", "list"])
    #expect(metadata.map(\.value) == [#"["f": ["g": "h"]]"#, #"["1", "2"]"#])
  }

  @Test func tellsWhereAndWhatWentWrong() throws {
    logger().error("x", error: SystemCallError("open", 2))
    let record = try #require(records().first)
    #expect(record.metadata.map(\.key) == ["error.message", "error.type"])
    #expect(record.metadata.map(\.value) == ["open: No such file or directory", "Linux.SystemCallError"])
    #expect(record.label == "sdkd.test")
    #expect(record.file.hasSuffix("QueuedLogHandlerTests.swift"))
    #expect(record.function == #function)
  }

  @Test func cutsBetweenCharacters() {
    #expect("aaaa".cut(at: 4) == "aaaa")
    #expect("aaaaa".cut(at: 4) == "a…")
    #expect("äöüß".cut(at: 7) == "äö…")
    #expect("äöüß".cut(at: 6) == "ä…")
  }
}
