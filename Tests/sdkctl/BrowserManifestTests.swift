import Foundation
import Glibc
import JSONRPC
import Testing

@testable import sdkctl

/// The list of what pages may use, and the files of the browsers.
struct BrowserManifestTests {
  private func manifest(_ origins: JSON) -> BrowserManifest {
    BrowserManifest(text: JSONWriter.bytes(of: ["origins": origins]))
  }

  private let good: JSON = ["instances": ["desk"], "methods": ["token.get"], "events": ["userLoggedIn"]]

  @Test(
    "An origin is as browsers write it",
    arguments: [
      "https://kiosk.example", "https://kiosk.example:8443", "http://localhost", "http://localhost:8080",
      "http://127.0.0.1:1", "https://xn--bcher-kva.example",
    ])
  func origins(_ origin: String) {
    let list = manifest(.object(JSONObject([(origin, good)])))
    #expect(list.mistakes.isEmpty, "\(list.mistakes)")
    #expect(list.rights(of: origin)?.instances == ["desk"])
  }

  @Test(
    "What is no origin is refused",
    arguments: [
      "", "*", "null", "https://", "https://*.example", "https://kiosk.example/", "https://kiosk.example/a",
      "https://Kiosk.example", "https://bücher.example", "https://user@kiosk.example", "https://kiosk.example:443",
      "https://kiosk.example:", "https://kiosk.example:0x1", "https://kiosk.example:99999", "https://a:1:2",
      "http://kiosk.example", "http://localhost:80", "http://[::1", "http://[::1]:8080", "http://127.0.0.1.example",
      "file:///x", "chrome-extension://abc", "https:/kiosk.example", "https://kiosk.example?x", "https://a b",
    ])
  func noOrigins(_ origin: String) {
    let list = manifest(.object(JSONObject([(origin, good), ("https://other.example", good)])))
    #expect(list.mistakes.count == 1, "\(list.mistakes)")
    #expect(list.rights(of: origin) == nil)
    #expect(list.rights(of: "https://other.example") == nil, "a mistake takes every right")
  }

  @Test(
    "Each mistake in a list is named",
    arguments: [
      (["instances": ["desk"], "methods": ["daemon.info"]], "daemon.info"),
      (["instances": ["desk"], "methods": ["instance.list"]], "instance.list"),
      (["instances": ["desk"], "methods": ["events.subscribe"]], "list the types of events in events"),
      (["instances": ["desk"], "methods": ["token.gett"]], "Did you mean token.get?"),
      (["instances": ["desk"], "methods": ["token"]], "no name of a method"),
      (["instances": ["desk"], "events": ["userLogedIn"]], "Did you mean userLoggedIn?"),
      (["instances": ["a b"]], "can't be the id"), (["instances": []], "lists no instance"), ([:], "lists no instance"),
      (["instances": "desk"], "array of strings"), (["instances": ["desk"], "methods": [1]], "array of strings"),
      (["instances": ["desk"], "method": []], "no member method"), ("desk", "has an object"),
    ] as [(JSON, String)])
  func mistakes(_ page: JSON, _ part: String) {
    let list = manifest(["https://kiosk.example": page])
    #expect(list.mistakes.contains { $0.contains(part) }, "\(list.mistakes)")
    #expect(list.rights(of: "https://kiosk.example") == nil)
  }

  @Test(
    "A text that is no list gives no right",
    arguments: ["", "[]", "{}", #"{"origins":[]}"#, #"{"origins":{},"more":1}"#, "{"])
  func noList(_ text: String) {
    #expect(!BrowserManifest(text: Array(text.utf8)).mistakes.isEmpty)
  }

  @Test("Methods of kinds may be listed, though sdkctl does not know them")
  func kinds() {
    let list = manifest([
      "https://a.b": ["instances": ["desk"], "methods": ["messaging.loginUser", "delegate.attach"]]
    ])
    #expect(list.mistakes.isEmpty, "\(list.mistakes)")
  }

  @Test("The sample list is that of the guide, has no mistake, and lists what a kiosk's steps need")
  func sample() throws {
    let packaging = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Packaging")
    let text = try Data(contentsOf: packaging.appendingPathComponent("examples/browser/browser.json"))
    let list = BrowserManifest(text: Array(text))
    #expect(list.mistakes.isEmpty, "\(list.mistakes)")
    let rights = try #require(list.rights(of: "https://kiosk.example"))
    #expect(Set(["session.open", "token.get", "token.reject", "messaging.loginUser"]).isSubset(of: rights.methods))
    #expect(rights.events.contains("identityWiped"))
    let guide = try String(contentsOf: packaging.appendingPathComponent("documentation/browser.md"), encoding: .utf8)
    let block = try #require(guide.firstMatch(of: /```json\n((?s).*?)```/)?.1)
    #expect(try JSONParser.parse(String(block)) == JSONParser.parse(Array(text)))
  }

  @Test("The first folder or file on a path that others may not use is found")
  func obstacles() throws {
    let folder = "/tmp/list-\(UUID().uuidString)"
    let (inner, file) = ("\(folder)/sdkd", "\(folder)/sdkd/browser.json")
    try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data("{}".utf8).write(to: URL(fileURLWithPath: file))
    func found(_ modes: mode_t...) -> ReadObstacle? {
      for (path, mode) in zip([folder, inner, file], modes) { chmod(path, mode) }
      return ReadObstacle.forOthers(file)
    }
    #expect(found(0o711, 0o751, 0o644) == nil)
    #expect(found(0o755, 0o750, 0o644)?.remedy == "chmod o+x \(inner)")
    #expect(found(0o700, 0o750, 0o640)?.remedy == "chmod o+x \(folder)")
    #expect(found(0o755, 0o751, 0o640)?.remedy == "chmod o+r \(file)")
    #expect(ReadObstacle.forCaller(file) == nil)
  }

  @Test("Each browser gets the host for the extension alone, and its origins")
  func files() {
    let chromium = BrowserFiles(browser: .chromium, origins: ["https://a.b"], updateURL: "https://a.b/x.xml").files
    #expect(
      chromium.map(\.path) == [
        "/etc/chromium/native-messaging-hosts/sdkd.json", "/etc/chromium/policies/managed/sdkd.json",
      ])
    #expect(chromium[0].json["allowed_origins"] == [.string("chrome-extension://\(BrowserFiles.standardID)/")])
    #expect(chromium[1].json["3rdparty"]?["extensions"]?[BrowserFiles.standardID]?["origins"] == ["https://a.b"])
    #expect(chromium[1].json["ExtensionInstallForcelist"] == [.string("\(BrowserFiles.standardID);https://a.b/x.xml")])
    let firefox = BrowserFiles(browser: .firefox, origins: ["https://a.b"]).files
    #expect(firefox[0].json["allowed_extensions"] == ["sdkd@packages.invalid"])
    #expect(firefox[1].json["data"]?["origins"] == ["https://a.b"])
  }
}
