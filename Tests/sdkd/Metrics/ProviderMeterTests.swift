import DelegateBridge
import SDKProtocol
import Testing

@testable import sdkd

/// The metrics label for the end of a provider's run.
@Suite struct ProviderMeterTests {
  @Test func endings() {
    let cases: [(exit: String, failure: Reason?, word: String)] = [
      ("0", nil, "answered"), ("0", .providerOutputInvalid, "invalidOutput"), ("0", .noProvider, "deferred"),
      ("0", .providerDenied, "denied"), ("0", .providerFailed, "failed"), ("75", .providerFailed, "later"),
      ("77", .providerDenied, "denied"), ("1", .providerFailed, "failed"), ("signal 9", .providerFailed, "signal"),
      ("timeout", .providerTimeout, "timeout"), ("output", .providerOutputInvalid, "invalidOutput"),
      ("notAllowed", .providerNotAllowed, "notAllowed"), ("notStarted", .providerFailed, "notStarted"),
      ("cancelled", .shuttingDown, "cancelled"),
    ]
    for one in cases {
      #expect(ProviderMeter.ending(exit: one.exit, failure: one.failure) == one.word, "\(one)")
    }
  }
}
