import SDKProtocol
import Testing

@testable import SDKInstances

@Suite struct SentHistoryTests {
  @Test("Earlier secrets are masked, up to a number and a size, and those of the request always")
  func bounds() {
    let history = SentHistory()
    for number in 0..<40 { _ = history.sent([Secret("number/\(number)!")]) }
    let sent = history.sent([])
    let oldest = 40 - SentHistory.limits.count
    for number in [39, oldest] { #expect(sent.isRepeated(in: "number/\(number)!")) }
    #expect(!sent.isRepeated(in: "number/\(oldest - 1)!"))

    let large = Secret(String(repeating: "x/", count: SentHistory.limits.bytes))
    #expect(history.sent([large]).isRepeated(in: large.reveal()))
    #expect(!history.sent([]).isRepeated(in: large.reveal()))
    #expect(!history.sent([]).isRepeated(in: "number/39!"), "the oldest make room")
    _ = history.sent([Secret("again!"), Secret("")])
    #expect(history.sent([Secret("again!")]).isRepeated(in: "again!"))
  }
}
