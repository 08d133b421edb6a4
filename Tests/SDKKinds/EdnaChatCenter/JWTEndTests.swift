import Foundation
import JSONRPC
import SDKProtocol
import Testing

@testable import SDKKinds

/// The expiry of a credential that is a JWT.
@Suite struct JWTEndTests {
  private func jwt(_ payload: String, header: String = #"{"alg":"none"}"#) -> String {
    func part(_ text: String) -> String {
      Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
    }
    return "\(part(header)).\(part(payload)).eHg"
  }

  private static let ends: [(payload: String, end: Double?)] = [
    (#"{"exp":1800000000}"#, 1_800_000_000), (#"{"exp":1800000000.5,"a":"ü>?"}"#, 1_800_000_000.5),
    (#"{"exp":-1}"#, 0), (#"{"exp":1e300}"#, nil), (#"{"exp":1e999}"#, nil), (#"{"exp":"1800000000"}"#, nil),
    (#"{"exp":null}"#, nil), ("{}", nil), ("[1]", nil), ("no JSON", nil), ("", nil),
  ]

  @Test("The claim exp is the end, wherever it can be one", arguments: ends)
  func claims(payload: String, end: Double?) {
    let expected = end.map { Timestamp(secondsSince1970: $0) }
    #expect(JWTEnd.of(Secret(jwt(payload))) == expected)
    #expect(JWTEnd.of(Secret("Bearer " + jwt(payload))) == expected)
  }

  @Test("An opaque token has no end", arguments: ["", " ", "opaque", "a.b", "a.b.c", "..", "a.b.c.d", "ä.ö.ü"])
  func opaque(text: String) { #expect(JWTEnd.of(Secret(text)) == nil) }

  @Test("A JWT that is nested deep is none, and costs no time")
  func nesting() {
    let deep =
      #"{"exp":1800000000,"a":"# + String(repeating: "[", count: 500) + String(repeating: "]", count: 500) + "}"
    #expect(JWTEnd.of(Secret(jwt(deep))) == nil)
  }
}
