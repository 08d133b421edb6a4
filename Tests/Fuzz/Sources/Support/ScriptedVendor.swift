import JSONRPC
import SDKInstances
import Synchronization

@testable import SDKKinds

/// A vendor that answers with the parts of an input, one after the other, and then no more.
///
/// A part that begins with `HTTP/` is an answer to a request, `refused 403` one to a WebSocket, `settings {…}` and
/// `answer {…}` are for `KindTarget`; every other part is a message on a WebSocket.
final class ScriptedVendor: HTTPSending, SocketOpening, VendorSocket {
  private struct Script {
    var answers: [Result<HTTPResponseParts, HTTPFailure>] = []
    var messages: [String] = []
    var refusals: [Int] = []
  }

  /// The JSON after `settings` and `answer`.
  let members: [String: JSONObject]
  /// The settings of the definition: those given to `init` with the input's.
  let settings: JSONObject
  /// The connected app's secret, which leads to the definition's own URLs and to the vendor's login hosts only.
  static let appSecret = "the/secret+of=the-app"
  private static let loginHosts = Reach(
    own: ["https://login.salesforce.com", "https://test.salesforce.com"], domains: [])
  private let reach: Reach
  private let script: Mutex<Script>

  /// Reads the script for an instance of a kind, whose requests may lead where its definition and its kind allow.
  init(_ input: Input, kind: KindSettings, settings: JSONObject) {
    var script = Script()
    var members: [String: JSONObject] = [:]
    for part in input.parts {
      let words = part.split(separator: UInt8(ascii: " "), maxSplits: 1)
      let first = String(decoding: words.first ?? [], as: UTF8.self)
      switch first {
      case _ where first.hasPrefix("HTTP/"): script.answers.append(ResponseDecoding.answer(part).map(Self.settled))
      case "refused": script.refusals.append(words.last.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 500)
      case "settings", "answer":
        if words.count == 2, let object = try? JSONParser.parse(words[1]).objectValue { members[first] = object }
      default: script.messages.append(String(decoding: part, as: UTF8.self))
      }
    }
    self.members = members
    let settings = members["settings"].map { settings.merged(with: $0) } ?? settings
    self.settings = settings
    reach = Reach(own: kind.urls.compactMap { settings[$0]?.stringValue }, domains: kind.vendorDomains)
    self.script = Mutex(script)
  }

  /// Without the status that makes a kind wait before it asks again.
  private static func settled(_ answer: HTTPResponseParts) -> HTTPResponseParts {
    var answer = answer
    if answer.status == 409 { answer.status = 410 }
    return answer
  }

  func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
    for (name, value) in request.headers { Check.header(name, value) }
    require(VendorURL(request.url, .http) != nil, "A request goes to \(request.url).")
    require(reach.has(request.url), "A request goes to \(request.url), to which nothing allows it to go.")
    let text =
      request.headers.map(\.value).joined(separator: "\n") + "\n" + String(decoding: request.body ?? [], as: UTF8.self)
    if text.contains(PercentEncoding.value(Self.appSecret)) || text.contains(Self.appSecret) {
      require(
        reach.isOwn(request.url) || Self.loginHosts.has(request.url), "The app's secret goes to \(request.url).")
    }
    let next = script.withLock { $0.answers.isEmpty ? nil : $0.answers.removeFirst() }
    guard let next else { throw .network("the script is over") }
    return try next.get()
  }

  func open(_ request: SocketRequestParts) async throws(HTTPFailure) -> any VendorSocket {
    require(VendorURL(request.url, .webSocket) != nil, "A WebSocket goes to \(request.url).")
    require(reach.has(request.url), "A WebSocket goes to \(request.url), to which nothing allows it to go.")
    let refusal = script.withLock { $0.refusals.isEmpty ? nil : $0.refusals.removeFirst() }
    if let refusal { throw .refused(status: refusal) }
    return self
  }

  func send(_ text: String) async throws(HTTPFailure) {
    require((try? JSONParser.parse(text)) != nil, "A message that is not JSON is sent.")
  }

  func next(within _: Double?) async throws(HTTPFailure) -> String? {
    script.withLock { $0.messages.isEmpty ? nil : $0.messages.removeFirst() }
  }

  func close() async {}
}
