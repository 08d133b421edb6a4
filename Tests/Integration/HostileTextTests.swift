import Foundation
import Glibc
import JSONRPC
import Testing

/// Legal JSON whose values take long to compare, to hash or to decode, from a user without any role.
@Suite(.enabled(if: getuid() == 0, "needs root to start processes of other users"))
struct HostileTextTests {
  private func withstand(_ script: String) throws -> JSON {
    let desk = try Desk.open()
    var said: JSON?
    try desk.withstand {
      let stranger = try Stranger(desk, uid: 1001, script)
      said = try? stranger.word()
      return [stranger]
    }
    return try #require(said)
  }

  @Test("Long runs of combining marks are refused wherever they occur, and nobody waits for them")
  func combiningMarks() throws {
    let said = try withstand(
      """
      def marks(size): return "i" + "\\u0301" * (size // 4) + "\\u0316" * (size // 4)
      def request(id="1", method="token.get", params={}, **others):
          return dict({"jsonrpc": "2.0", "id": id, "method": method, "params": params}, **others)
      long, huge = marks(60000), marks(900000)
      messages = [
          request(method=huge), request(id=huge), request(method=long), request(id=long), request(params={long: 1}),
          request(**{long: 1}), request(params={"instance": long}), request("1", "instance.list", {"kind": long}),
          request("1", "events.subscribe", {"labels": {long: long}}), [request(), request(id=long)],
          request("1", "events.unsubscribe", {"subscription": long}), {"jsonrpc": "2.0", "id": long, "result": 1},
      ]
      line, codes = Line(), []
      for message in messages:
          for escaped in (True, False):
              text = json.dumps(message, ensure_ascii=escaped)
              if len(text.encode()) >= 1 << 20: continue
              line.send(text)
              codes.append(line.read()["error"]["code"])
      say(sorted(set(codes)))
      """)
    #expect(said == [-32600])
  }

  @Test("Methods over 64 bytes and ids over 256 bytes are refused before they are looked up")
  func longNames() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    func answer(id: String, method: String) throws -> JSON? {
      line.send("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"\(method)\"}\n")
      return try line.json()
    }
    func text(_ count: Int) -> String { String(repeating: "x", count: count) }
    #expect(try answer(id: "1", method: text(64))?["error"]?["code"] == -32601)
    let method = try answer(id: "1", method: text(65))
    #expect(method?["id"] == 1)
    #expect(method?["error"]?["code"] == -32600)
    #expect(method?["error"]?["data"]?["member"] == "method")
    #expect(try answer(id: "\"\(text(256))\"", method: "daemon.info")?["result"] != nil)
    for id in ["\"\(text(257))\"", "1" + String(repeating: "0", count: 256)] {
      let refused = try answer(id: id, method: "daemon.info")
      #expect(refused?["id"] == .null)
      #expect(refused?["error"]?["code"] == -32600)
      #expect(refused?["error"]?["data"]?["member"] == "id")
    }
  }

  @Test("Ids that are equal under Unicode normalization are two ids")
  func normalizedIDs() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.provider("exec sleep 60"))
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice", ttl: 300))])
    for id in ["\u{E9}", "e\u{301}"] {
      line.send(
        "{\"jsonrpc\":\"2.0\",\"id\":\"\(id)\",\"method\":\"token.get\","
          + "\"params\":{\"instance\":\"desk\",\"minTTL\":600}}\n")
    }
    for id in ["e\u{301}", "\u{E9}"] {
      line.send("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":\"\(id)\"}}\n")
      let answer = try line.json()
      #expect(answer?["error"]?["code"] == -32800)
      #expect(answer?["id"]?.stringValue.map { Array($0.utf8) } == Array(id.utf8))
    }
  }

  @Test("Objects of thousands of members are refused for their number or their first unknown member, and nobody waits")
  func manyMembers() throws {
    let said = try withstand(
      """
      many = {"m%d" % n: "v" for n in range(3800)}
      def request(method, **params): return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
      messages = [
          request("instance.list", labels=many), request("events.subscribe", labels=many),
          request("instance.create", instance="x", kind="zendesk.messaging", settings={}, labels=many),
          request("instance.list", **many), dict(request("daemon.info"), **many),
      ]
      line, said = Line(), []
      for _ in range(20):
          for message in messages:
              line.send(json.dumps(message))
              error = line.read()["error"]
              said.append([error["code"], error["data"].get("member")])
      say([list(x) for x in sorted({tuple(x) for x in said})])
      """)
    #expect(said == [[-32602, "labels"], [-32602, "m0"], [-32600, "m0"]])
  }

  @Test("One batch on each of a user's connections, whose answers nobody reads, stays within the user's bytes")
  func unreadBatches() throws {
    let desk = try Desk.open(configuration: "[limits]\ncalls_per_second = 20000\n")
    try desk.withstand(memory: 112 << 20) {
      [
        try Stranger(
          desk, uid: 1001,
          """
          batch = json.dumps([{"jsonrpc": "2.0", "id": n, "method": "rpc.discover"} for n in range(64)])
          lines, other = [Line() for _ in range(127)], Line()
          for line in lines: line.send(batch)
          # By then the daemon has looked at all of them; after it the answers are read.
          for _ in range(500): assert "result" in other.call("daemon.info")
          reasons = set()
          for line in lines:
              answers = line.read()
              assert len(answers) == 64
              reasons |= {reason(answer) for answer in answers}
          say(sorted(r for r in reasons if r))
          """)
      ]
    }
  }
}
