import SDKProtocol
import Testing

@testable import SDKKinds

struct PercentEncodingTests {
  @Test func `A value keeps what is unreserved and nothing else`() {
    #expect(PercentEncoding.value("00D!AQ.é -_~") == "00D%21AQ.%C3%A9%20-_~")
  }

  @Test func `A segment leads to no other path`() {
    #expect(PercentEncoding.segment("0Mp/../x") == "0Mp%2F%2E%2E%2Fx")
  }

  @Test func `A form's names and values are apart`() {
    let form = PercentEncoding.form([("a", Secret("b c&d=é")), ("e&f", Secret("-._~"))])
    #expect(String(decoding: form, as: UTF8.self) == "a=b%20c%26d%3D%C3%A9&e%26f=-._~")
  }
}
