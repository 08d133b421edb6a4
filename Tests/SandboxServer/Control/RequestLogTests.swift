import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

struct RequestLogTests {
  let sandbox = TestSandbox()

  @Test func `Requests are kept in order with everything they brought`() async throws {
    _ = try await sandbox.send("GET", "/zm/a%20b?x=1&y=%2F", authorization: "Bearer t")
    _ = try await sandbox.login("bad", ["userId": "alice"])
    guard case .array(let entries)? = try await sandbox.send("GET", "/_log").tree?["requests"] else {
      Issue.record("no requests")
      return
    }
    #expect(entries.map { $0["index"] } == [0, 1])
    #expect(entries.first?["path"] == "/zm/a%20b")
    #expect(entries.first?["query"] == "x=1&y=%2F")
    #expect(entries.first?["status"] == 404)
    #expect(entries.first?["headers"]?["Authorization"] == "Bearer t")
    #expect(entries.last?["method"] == "POST")
    #expect(entries.last?["body"] == #"{"userId":"alice"}"#)
    #expect(entries.last?["time"] == 1_800_000_000)
    #expect(entries.last?["note"] == "not a JWT")
  }

  @Test func `since leaves out, and clearing goes on counting`() async throws {
    for _ in 1...3 { _ = try await sandbox.send("GET", "/zm") }
    let last = try await sandbox.send("GET", "/_log?since=2").tree?["requests"]
    guard case .array(let entries)? = last else { return }
    #expect(entries.map { $0["index"] } == [2])
    _ = try await sandbox.send("DELETE", "/_log")
    #expect(try await sandbox.notes().isEmpty)
    _ = try await sandbox.send("GET", "/zm")
    guard case .array(let after)? = try await sandbox.send("GET", "/_log").tree?["requests"] else { return }
    #expect(after.map { $0["index"] } == [3])
  }

  @Test func `Waiting ends when enough has come, or at the deadline`() async throws {
    async let waiting = sandbox.send("GET", "/_log?count=2&waitMs=60000")
    _ = try await sandbox.send("GET", "/zm")
    _ = try await sandbox.send("GET", "/zm")
    guard case .array(let entries)? = try await waiting.tree?["requests"] else { return }
    #expect(entries.count == 2)
    guard case .array(let few)? = try await sandbox.send("GET", "/_log?count=9&waitMs=1").tree?["requests"] else {
      return
    }
    #expect(few.count == 2)
  }

  @Test func `The log is bounded by number and by size`() {
    var log = RequestLog()
    var request = SandboxRequest(method: "GET", path: "/zm")
    let most = SandboxLimits.log * 11 / 10
    for _ in 0..<(3 * most) { _ = log.begin(request, at: .now) }
    #expect(log.entries().count <= most)
    #expect(log.entries().last?.index == 3 * most - 1)
    request.body = Data(count: SandboxLimits.body)
    for _ in 0..<200 { _ = log.begin(request, at: .now) }
    #expect(log.entries().reduce(0) { $0 + $1.request.body.count } <= SandboxLimits.logBytes)
    log.finish(0, status: 200, note: nil)
    log.finish(Int.max, status: 200, note: nil)
    let last = log.entries().last?.index ?? 0
    log.finish(last, status: 201, note: nil)
    #expect(log.entries(since: last).first?.status == 201)
  }
}
