import Foundation
import Glibc
import JSONRPC
import Testing

/// The resources that a daemon uses.
struct Vitals {
  let descriptors: Int
  let threads: Int
  /// The resident memory in bytes.
  let resident: Int

  init(_ pid: pid_t) throws {
    descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
    func field(_ name: String) -> Int {
      let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
      return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }
    threads = field("Threads")
    resident = field("VmRSS") * 1024
  }
}

extension Desk {
  var vitals: Vitals {
    get throws {
      guard let daemon else { throw Program.Failure(description: "there is no daemon") }
      return try Vitals(daemon.pid)
    }
  }

  /// Runs an attack while another client works. Expects that the other client gets every response, that memory is
  /// bounded, and that the resources are released afterwards.
  ///
  /// - Parameter memory: the bytes that the attack may cost while it lasts.
  func withstand(memory: Int = 192 << 20, _ attack: () throws -> [Stranger]) throws {
    let other = try connect()
    try create("other", on: other, provider: try mintingProvider())
    try other.call("messaging.loginUser", ["instance": "other", "jwt": .string(try Vendor.mint("alice"))])
    try other.call("token.get", ["instance": "other"])
    let before = try vitals
    var highest = before.resident
    let strangers = try attack()
    var calls = 0
    while strangers.contains(where: { $0.isRunning }) || calls < 50 {
      let answer = try other.call("token.get", ["instance": "other"], within: 20)
      #expect(answer["fromCache"] == true)
      calls += 1
      highest = max(highest, try vitals.resident)
      usleep(2_000)
    }
    for stranger in strangers { try stranger.end(within: 1) }
    #expect(highest < before.resident + memory, "\(highest >> 20) MiB after \(before.resident >> 20)")
    try eventually("the descriptors are given back", within: 30) { try vitals.descriptors <= before.descriptors + 2 }
    #expect(try vitals.threads <= before.threads + 8)
    #expect(try other.call("daemon.health")["status"] == "ok")
    let fresh = try connect()
    #expect(try fresh.call("daemon.info")["pid"]?.intValue == daemon.map { Int($0.pid) })
  }
}
