import Foundation
import Glibc
import JSONRPC
import Testing

/// The slots for providers: many providers that hang do not delay the others.
@Suite struct BridgeSlotTests {
  /// Returns the number of processes with `path` as a word of their command line.
  private func running(_ path: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").count { entry in
      guard Int(entry) != nil, let words = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(entry)/cmdline")) else {
        return false
      }
      return String(decoding: words, as: UTF8.self).split(separator: "\0").contains(Substring(path))
    }
  }

  private func login(_ id: String, _ user: String, on line: Line) throws {
    try line.call("messaging.loginUser", ["instance": .string(id), "jwt": .string(try Vendor.mint(user))])
  }

  @Test(.enabled(if: getuid() == 0, "needs root to call as another user"))
  func fortyHangingProvidersOfOneOwnerDelayNoOther() throws {
    let desk = try Desk.open(
      configuration: """
        [[access.create]]
        who = "uid:1001"
        prefix = "theirs"
        max = 5
        [bridge]
        max_concurrent = 8
        max_running = 24
        """)
    let line = try desk.connect()
    let hang = try desk.provider("exec sleep 4300", name: "hang").objectValue ?? [:]
    for number in 0..<40 {
      try desk.create(
        "ours\(number)", on: line, settings: BridgeDesk.lazy,
        provider: .object(hang.merged(with: ["timeout": "2m"])))
      try login("ours\(number)", "user\(number)", on: line)
    }
    // Another user creates the instance; only an admin may set its provider.
    let good = try desk.provider("exec \(BridgeDesk.mint)", name: "good")
    let settings: JSONObject = ["base_url": "https://desk.zendesk.com", "app_id": .string(Desk.app)]
    let made = try desk.call(
      asUid: 1001, "instance.create",
      ["instance": "theirs", "kind": "zendesk.messaging", "settings": .object(settings.merged(with: BridgeDesk.lazy))])
    #expect(made["error"] == nil, "\(JSONWriter.text(of: made))")
    try line.call(
      "instance.update",
      ["instance": "theirs", "provider": good, "settings": ["base_url": .string(try desk.vendor.messaging)]])
    try login("theirs", "bob", on: line)

    let calls = (0..<40).map { line.begin("token.refresh", ["instance": .string("ours\($0)")]) }
    let other = try desk.connect()
    // The other owner's provider runs while the hung ones hold the slots, and after they have released them.
    try eventually("they fill all room but that of another owner", within: 60) { try running("4300") == 18 }
    for _ in 0..<3 {
      #expect(try other.call("token.refresh", ["instance": "theirs"], within: 60)["fromCache"] == false)
    }
    // A refresh that gets no slot fails with `providerBackoff` when the time for a recovery, 60 s, is over. The same time
    // limits the refreshes whose providers hang.
    var refused = 0
    for call in calls[18...] {
      if try line.answer(call, within: 120)["error"]?["data"]?["reason"] == "providerBackoff" { refused += 1 }
    }
    #expect(refused >= 20)
    #expect(try other.call("token.refresh", ["instance": "theirs"], within: 60)["fromCache"] == false)
    #expect(desk.stop() == 0)
    try eventually("none is left behind") { try running("4300") == 0 }
  }

  @Test("The thirteenth provider of an owner runs while twelve of the same owner hang")
  func anOwnerUsesWhatNobodyElseNeeds() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    // The argument is unique because `running` counts the processes of the whole machine.
    let mark = "4303.\(Int.random(in: 1..<1_000_000))"
    let hang = try desk.provider("exec sleep \(mark)", name: "hang").objectValue ?? [:]
    for number in 0..<12 {
      try desk.create(
        "hung\(number)", on: line, settings: BridgeDesk.lazy,
        provider: .object(hang.merged(with: ["timeout": "2m"])))
      try login("hung\(number)", "user\(number)", on: line)
    }
    try desk.create("good", on: line, settings: BridgeDesk.lazy, provider: try desk.provider("exec \(BridgeDesk.mint)"))
    try login("good", "alice", on: line)
    for number in 0..<12 { line.begin("token.refresh", ["instance": .string("hung\(number)")]) }
    try eventually("they all hang", within: 60) { try running(mark) == 12 }
    let other = try desk.connect()
    #expect(try other.call("token.refresh", ["instance": "good"], within: 60)["fromCache"] == false)
    #expect(desk.stop() == 0)
  }

  @Test func hangingInstancesOfFilesDelayNoOtherOfAFile() throws {
    let desk = try Desk()
    let hang = try desk.write("hang", "#!/bin/sh\nexec sleep 4301\n", mode: 0o755).path
    let good = try desk.write("good", "#!/bin/sh\nexec \(BridgeDesk.mint)\n", mode: 0o755).path
    for id in (0..<12).map({ "bad\($0)" }) + ["good"] {
      try desk.write(
        "instances.d/\(id).toml",
        """
        id = "\(id)"
        kind = "zendesk.messaging"
        [settings]
        base_url = "\(try desk.vendor.messaging)"
        app_id = "\(Desk.app)"
        refresh = { mode = "lazy", min_interval = 0 }
        [provider]
        command = ["\(id == "good" ? good : hang)"]
        timeout = "2m"
        """)
    }
    try desk.start()
    let line = try desk.connect()
    for id in (0..<12).map({ "bad\($0)" }) + ["good"] { try login(id, "user-\(id)", on: line) }
    for number in 0..<12 { line.begin("token.refresh", ["instance": .string("bad\(number)")]) }
    // Twelve runs are more than one owner's share: each instance of a file has a share of its own.
    try eventually("they all hang", within: 60) { try running("4301") == 12 }
    let other = try desk.connect()
    for _ in 0..<3 {
      #expect(try other.call("token.refresh", ["instance": "good"], within: 60)["fromCache"] == false)
    }
    #expect(try running("4301") == 12)
    #expect(desk.stop() == 0)
  }

  @Test func aWaitingProviderGivesItsSlotBack() throws {
    let desk = try Desk.open(configuration: "[bridge]\nmax_concurrent = 2\n")
    let line = try desk.connect()
    let hang = try desk.provider("exec sleep 4302", name: "hang").objectValue ?? [:]
    for id in ["a", "b"] {
      try desk.create(
        id, on: line, settings: BridgeDesk.lazy, provider: .object(hang.merged(with: ["timeout": "2m"])))
      try login(id, "user-\(id)", on: line)
    }
    try desk.create("c", on: line, settings: BridgeDesk.lazy, provider: try desk.provider("exec \(BridgeDesk.mint)"))
    try login("c", "carol", on: line)
    for id in ["a", "b"] { line.begin("token.refresh", ["instance": .string(id)]) }
    try eventually("they hang", within: 30) { try running("4302") == 2 }
    let other = try desk.connect()
    #expect(try other.call("token.refresh", ["instance": "c"], within: 60)["fromCache"] == false)
    #expect(desk.stop() == 0)
  }

  @Test("The provider of an instance that was made again waits until the run of its deleted namesake has ended")
  func aNewInstanceWaitsForTheRunOfItsNamesake() throws {
    let desk = try BridgeDesk(
      """
      cd "$(dirname "$0")"
      exec 9>lock
      flock -n 9 || echo overlap >> runs
      echo run >> runs
      [ ! -e hangs ] || { trap '' TERM; sleep 300; }
      exec \(BridgeDesk.mint)
      """, ["timeout": "1m"])
    try desk.desk.write("hangs", "")
    let refresh = desk.line.begin("token.refresh", ["instance": "desk"])
    try eventually("it hangs", within: 30) { desk.read("runs") == "run\n" }
    try FileManager.default.removeItem(atPath: desk.path("hangs"))
    try desk.line.call("instance.delete", ["instance": "desk"])
    #expect(try desk.line.answer(refresh)["error"]?["data"]?["reason"] == "instanceNotFound")
    try desk.desk.create(
      "desk", on: desk.line, settings: BridgeDesk.lazy, provider: ["command": [.string(desk.path("provider"))]])
    try login("desk", "alice", on: desk.line)
    #expect(try desk.line.call("token.refresh", ["instance": "desk"], within: 60)["fromCache"] == false)
    #expect(desk.read("runs") == "run\nrun\n")
  }
}
