import Foundation
import Glibc
import JSONRPC
import Testing

/// `daemon.reload`, SIGHUP and `sdkctl reload`: changes take effect, and everything else stays as it is.
@Suite struct ReloadTests {
  @Test func filesAreFollowedAndOtherInstancesAreNotTouched() throws {
    let desk = try Desk()
    for id in ["stays", "changes", "goes"] { try desk.file(id) }
    try desk.start()
    let line = try desk.connect()
    for id in ["stays", "changes", "goes"] {
      try line.call("messaging.loginUser", ["instance": .string(id), "jwt": .string(try Vendor.mint(id))])
    }
    let delegate = try desk.connect()
    try delegate.call("delegate.attach", ["instances": ["stays"]])
    let follower = try desk.connect()
    try follower.call("events.subscribe", [:])
    let before = try line.call("instance.get", ["instance": "stays"])
    let token = try line.call("token.get", ["instance": "stays"])
    let requests = try desk.vendor.log().count
    #expect(try line.call("daemon.reload")["unchanged"] == ["changes", "goes", "stays"])

    try desk.file("changes", label: "2")
    try desk.file("comes")
    try desk.removeFile("goes")
    let result = try line.call("daemon.reload")
    #expect(result["added"] == ["comes"])
    #expect(result["changed"] == ["changes"])
    #expect(result["removed"] == ["goes"])
    #expect(result["unchanged"] == ["stays"])
    #expect(result["counts"] == ["added": 1, "changed": 1, "removed": 1, "unchanged": 1])
    #expect(result["problems"] == [])

    // The new label keeps the user signed in; the delegate and the subscription stay in place.
    let changed = try line.call("instance.get", ["instance": "changes"])
    #expect(changed["labels"] == ["floor": "2"] && changed["state"] == "authenticated")
    #expect(try line.failure("instance.get", ["instance": "goes"]).reason == "instanceNotFound")
    #expect(try line.call("instance.get", ["instance": "stays"]) == before)
    let again = try line.call("token.get", ["instance": "stays"])
    #expect(again["tokenId"] == token["tokenId"] && again["fromCache"] == true)
    #expect(try desk.vendor.log().count == requests)
    var told: Set<String> = []
    while told.count < 3 {
      let event = try follower.notification("events.event")["event"]
      told.insert("\(event?["instance"]?.stringValue ?? "") \(event?["type"]?.stringValue ?? "")")
    }
    #expect(told.isSuperset(of: ["changes instanceUpdated", "comes instanceCreated"]))
    #expect(!told.contains { $0.hasPrefix("stays ") })
    // A reload does not touch instances that an API call has created.
    try desk.create("api", on: line)
    #expect(try line.call("daemon.reload")["unchanged"] == ["changes", "comes", "stays"])
    #expect(try line.call("instance.get", ["instance": "api"])["source"] == "api")
  }

  @Test func aMistakeAnywhereChangesNothing() throws {
    let desk = try Desk()
    try desk.file("front")
    try desk.start()
    let line = try desk.connect()
    try desk.create("taken", on: line)
    try desk.write("sdkd.toml", "[limits]\nmax_in_fligth = 3\n[log]\nlevel = \"debug\"\n")
    try desk.file("front", label: "2")
    try desk.file("new")
    try desk.file("taken")
    let main = desk.configuration.path
    let failure = try line.failure("daemon.reload")
    #expect(failure.reason == "invalidConfiguration" && failure.code == -32060)
    let mistakes = failure.data["mistakes"]?.arrayValue ?? []
    #expect(mistakes.map { $0["file"] } == [.string(main), .string("\(desk.folder.path)/instances.d/taken.toml")])
    #expect(mistakes.map { $0["line"] } == [2, 1])
    #expect(mistakes.map { $0["key"] } == ["limits.max_in_fligth", "id"])
    #expect(mistakes.first?["nearest"] == "max_in_flight")
    #expect(failure.data["count"] == 2)
    #expect(try line.call("instance.get", ["instance": "front"])["labels"] == ["floor": "1"])
    #expect(try line.failure("instance.get", ["instance": "new"]).reason == "instanceNotFound")
    let check = try desk.check("configuration", on: line)
    #expect(check?["status"] == "degraded")
    #expect(check?["detail"]?.stringValue?.hasSuffix("(and 1 more; sdkctl config check lists them)") == true)

    let shown = try desk.sdkctl("reload")
    #expect(shown.status == 1)
    #expect(shown.error.contains("\(main):2: limits.max_in_fligth: ") && shown.error.contains("max_in_flight?"))
    #expect(shown.error.contains("taken.toml:1: id: "))

    // SIGHUP has the same effect, and the log shows the mistakes.
    desk.daemon?.signal(SIGHUP)
    try eventually("the mistakes are in the log") {
      desk.logs.components(separatedBy: "\(main):2: limits.max_in_fligth").count > 3
    }
    try desk.write("sdkd.toml", "[log]\nlevel = \"debug\"\n")
    try desk.removeFile("taken")
    desk.daemon?.signal(SIGHUP)
    try eventually("the new instance is there") { (try? line.call("instance.get", ["instance": "new"])) != nil }
    // Instances are made one after the other, so this one may take a moment longer.
    try eventually("the other has its new labels") {
      try line.call("instance.get", ["instance": "front"])["labels"] == ["floor": "2"]
    }
    try eventually("all is well") { try desk.check("configuration", on: line)?["status"] == "ok" }
    #expect(try desk.sdkctl("reload").output.contains("unchanged"))
  }

  @Test func reloadsFollowOneAnother() throws {
    let desk = try Desk.open()
    let lines = try (0..<8).map { _ in try desk.connect() }
    for round in 0..<5 {
      try desk.file("i\(round)")
      let ids = lines.map { $0.begin("daemon.reload") }
      let answers = try zip(lines, ids).map { try $0.answer($1) }
      #expect(answers.allSatisfy { $0["error"] == nil })
      #expect(answers.count { $0["result"]?["added"] == [.string("i\(round)")] } == 1)
      #expect(answers.count { $0["result"]?["added"] == [] } == lines.count - 1)
    }
  }

  @Test func aLogoutComesBeforeTheRemovalAndIsTriedAgain() throws {
    let desk = try Desk()
    for id in ["one", "two"] { try desk.file(id, head: "on_remove = \"logout\"") }
    try desk.start()
    let line = try desk.connect()
    for id in ["one", "two"] {
      try line.call("messaging.loginUser", ["instance": .string(id), "jwt": .string(try Vendor.mint(id))])
    }
    try desk.removeFile("one")
    #expect(try line.call("daemon.reload")["removed"] == ["one"])
    #expect(try desk.vendor.count("POST", "/logout") == 1)

    try desk.vendor.script(["route": "POST /v2/apps/*/appusers/*/logout", "status": 503, "times": "forever"])
    try desk.removeFile("two")
    let result = try line.call("daemon.reload", within: 60)
    #expect(result["removed"] == [])
    #expect(result["problems"]?.arrayValue?.map { $0["instance"] } == ["two"])
    #expect(try line.call("instance.get", ["instance": "two"])["source"] == "file")
    let check = try desk.check("configuration", on: line)
    #expect(check?["status"] == "degraded" && check?["detail"]?.stringValue?.hasPrefix("two: ") == true)
    #expect(try desk.sdkctl("reload").status == 1)

    // A start does not wait for the vendor. Once the vendor accepts the logout, the instance is deleted.
    try desk.vendor.clearScripts()
    desk.stop()
    try desk.start()
    let later = try desk.connect()
    try eventually("the instance is gone") {
      (try? later.call("instance.get", ["instance": "two"])) == nil
    }
    #expect(try desk.vendor.count("POST", "/logout") >= 2)
    try eventually("all is well") { try desk.check("configuration", on: later)?["status"] == "ok" }
  }

  @Test func aGoodReloadHealsADegradedStart() throws {
    let desk = try Desk()
    try desk.file("front")
    try desk.start()
    try desk.connect().call("messaging.loginUser", ["instance": "front", "jwt": .string(try Vendor.mint("alice"))])
    desk.stop()
    try desk.write("sdkd.toml", "[events]\nretention = 3\n")
    try desk.start()
    let line = try desk.connect()
    let pid = try line.call("daemon.info")["pid"]
    #expect(try line.failure("instance.list").reason == "storeUnavailable")
    #expect(try line.failure("daemon.reload").reason == "invalidConfiguration")
    try desk.file("second")
    try desk.write("sdkd.toml", "[events]\nretention = { count = 10 }\n")
    let result = try line.call("daemon.reload")
    #expect(result["added"] == ["second"] && result["unchanged"] == ["front"])
    #expect(try line.call("daemon.info")["pid"] == pid)
    #expect(try line.call("daemon.health")["status"] == "ok")
    #expect(try line.call("token.get", ["instance": "front"])["fromCache"] == true)
  }
}
