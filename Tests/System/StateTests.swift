import Foundation
import JSONRPC
import Testing

/// Damaged states, restored backups and full disks.
@Suite struct StateTests {
  @Test func aDamagedDatabaseIsSetAsideAndTheLastCopyRestored() async throws {
    try await Machine.with { machine in
      try await machine.createInstance("desk")
      try await machine.sh("sdkctl backup")
      try await machine.createInstance("later")
      try await machine.sh(
        """
        systemctl stop sdkd.socket sdkd.service
        dd if=/dev/urandom of=/var/lib/sdkd/state.db bs=4096 seek=1 count=8 conv=notrunc status=none
        sha256sum < /var/lib/sdkd/state.db > /root/damaged
        systemctl start sdkd.socket sdkd.service
        """)
      #expect(try await machine.draft(of: "desk") == "of desk")
      #expect(try await machine.failure("instance.get", #"{"instance":"later"}"#)["reason"] == "instanceNotFound")
      // The damaged database is set aside unchanged, and the failure is logged as critical.
      try await machine.sh("sha256sum < /var/lib/sdkd/state.db.corrupt-* | cmp - /root/damaged")
      let critical = try await machine.journal("-u sdkd.service -p crit -o cat") { $0.contains("was damaged") }
      #expect(critical.contains("was damaged") && critical.contains("state.db.corrupt-"))
      let status = try await machine.sh("systemctl show -P StatusText sdkd.service").output
      #expect(status.hasPrefix("degraded: ") && status.contains("the database was damaged, backup auto-"), "\(status)")
      #expect(try await machine.health()["status"] == "degraded")
      try await machine.sh("rm /var/lib/sdkd/state.db.corrupt-*")
      #expect(try await machine.health()["status"] == "ok")
      let owners = try await machine.sh("find /var/lib/sdkd/ -not -user sdkd").output
      #expect(owners.isEmpty)
    }
  }

  @Test func withoutACopyNothingIsTouchedAndTheOperatorDecides() async throws {
    try await Machine.with { machine in
      try await machine.createInstance("desk")
      try await machine.sh(
        """
        systemctl stop sdkd.socket sdkd.service
        head -c 9000 /dev/urandom > /var/lib/sdkd/state.db
        systemctl start sdkd.socket sdkd.service
        """)
      let before = try await machine.stateDigests()
      let refusal = try await machine.failure("instance.list")
      #expect(refusal["reason"] == "storeUnavailable")
      #expect(refusal["message"]?.stringValue?.contains("sdkctl restore") == true)
      #expect(try await machine.stateDigests() == before)
      let running = try await machine.run(["sdkctl", "restore", "--empty"])
      #expect(running.status == 75 && running.error.contains("systemctl stop sdkd.socket sdkd.service"))
      try await machine.sh("systemctl stop sdkd.socket sdkd.service")
      #expect(try await machine.run(["sdkctl", "restore"]).status == 1)
      #expect(try await machine.stateDigests() == before)
      try await machine.sh("sdkctl restore --empty; systemctl start sdkd.socket sdkd.service")
      #expect(try await machine.sh("sdkctl list -o jsonl").output.isEmpty)
      try await machine.createInstance("new")
      #expect(try await machine.sh("find /var/lib/sdkd/ -not -user sdkd").output.isEmpty)
    }
  }

  @Test func aCopyIsRestoredByRootForTheDaemonsUser() async throws {
    try await Machine.with { machine in
      try await machine.createInstance("desk")
      try await machine.sh("sdkctl backup monday; sdkctl delete desk")
      #expect(try await machine.failure("instance.get", #"{"instance":"desk"}"#)["reason"] == "instanceNotFound")
      // A deletion destroys keys in the backups too. A copy outside of the state directory keeps them.
      try await machine.createInstance("other")
      try await machine.sh("sdkctl backup tuesday; cp /var/lib/sdkd/backups/tuesday.db /root/tuesday.db")
      try await machine.sh("sdkctl delete other; systemctl stop sdkd.socket sdkd.service")
      try await machine.sh("sdkctl restore tuesday; systemctl start sdkd.socket sdkd.service")
      #expect(try await machine.failure("instance.get", #"{"instance":"other"}"#)["reason"] == "instanceNotFound")
      try await machine.sh(
        "systemctl stop sdkd.socket sdkd.service; sdkctl restore /root/tuesday.db; systemctl start sdkd.socket sdkd.service"
      )
      #expect(try await machine.draft(of: "other") == "of other")
      #expect(try await machine.health()["status"] == "ok")
      #expect(try await machine.sh("find /var/lib/sdkd/ -not -user sdkd").output.isEmpty)
    }
  }

  @Test func anInstanceWhoseRowsDoNotOpenIsSetApartAlone() async throws {
    try await Machine.with { machine in
      for id in ["good", "bad"] { try await machine.createInstance(id) }
      try await machine.sh("systemctl stop sdkd.socket sdkd.service")
      try await machine.changeDatabase("UPDATE instance SET definition = zeroblob(80) WHERE id = 'bad'")
      try await machine.sh("systemctl start sdkd.socket sdkd.service")
      #expect(try await machine.draft(of: "good") == "of good")
      let refusal = try await machine.failure("instance.get", #"{"instance":"bad"}"#)
      #expect(refusal["reason"] == "instanceQuarantined")
      #expect(refusal["message"]?.stringValue?.contains("restore a backup or delete") == true)
      #expect(try await machine.health()["status"] == "degraded")
      let status = try await machine.sh("systemctl show -P StatusText sdkd.service").output
      #expect(status.hasPrefix("degraded: ") && status.contains("1 set aside"), "\(status)")
      let journal = try await machine.journal("-u sdkd.service -p err -o cat SDKD_INSTANCE=bad") { !$0.isEmpty }
      #expect(journal.contains("does not open"))
      try await machine.sh("sdkctl delete bad")
      #expect(try await machine.health()["status"] == "ok")
    }
  }

  @Test func aFullDiskIsSaidAndSurvived() async throws {
    try await Machine.with { machine in
      try await machine.sh(
        """
        systemctl stop sdkd.socket sdkd.service
        mount -t tmpfs -o size=3M,mode=0700,uid=$(id -u sdkd),gid=$(id -g sdkd) tmpfs /var/lib/sdkd
        systemctl start sdkd.socket sdkd.service
        """)
      try await machine.createInstance("desk")
      let fill = "cat /dev/zero >> /var/lib/sdkd/ballast || true"
      try await machine.sh(fill, within: 60)
      let value = String(repeating: "x", count: 30_000)
      try await machine.sh("cat > /root/params", input: #"{"instance":"desk","key":"big","value":"\#(value)"}"#)
      try await machine.eventually(
        "a write is refused",
        """
        status=0
        sdkctl call storage.put - -o jsonl < /root/params 2> /root/refusal || status=$?
        [ $status -eq 75 ]
        """)
      let refusal = try await machine.sh("cat /root/refusal").output
      #expect(refusal.contains("storeUnavailable") && refusal.contains("free some space"), "\(refusal)")
      // The daemon may have freed a part of the disk since.
      try await machine.sh(fill, within: 60)
      // Reads still work, and no partial backup is left.
      #expect(try await machine.draft(of: "desk") == "of desk")
      #expect(["degraded", "failing"].contains(try await machine.health()["status"]?.stringValue))
      let copy = try await machine.run(["sdkctl", "backup", "copy"])
      #expect(copy.status == 1 && copy.error.contains("no backup") || copy.error.contains("free some space"))
      #expect(try await machine.sh("ls -A /var/lib/sdkd/backups 2>/dev/null || true").output.isEmpty)
      try await machine.sh("rm /var/lib/sdkd/ballast")
      try await machine.eventually("it writes again", "sdkctl call storage.put - < /root/params")
      try await machine.sh("sdkctl backup copy")
      #expect(try await machine.health()["status"] == "ok")
      try await machine.sh("systemctl restart sdkd.service")
      #expect(try await machine.draft(of: "desk") == "of desk")
    }
  }
}
