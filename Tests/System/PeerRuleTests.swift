import Testing

/// Access rules for users, groups and units, enforced in the shipped sandbox on a booted system.
@Suite struct PeerRuleTests {
  @Test func rulesHoldForWhomTheyName() async throws {
    try await Machine.with { machine in
      let alice = try await machine.user("alice")
      try await machine.sh("groupadd desks; useradd bob; useradd -G desks carol")
      try await machine.startSandbox()
      try await machine.signIn("someone", at: "desk")

      /// Whether a command gets the token while `rule` is the only rule.
      func gets(_ rule: String, _ command: String) async throws -> Bool {
        try await machine.sh("sdkctl update desk --access-use '\(rule)' > /dev/null")
        let ended = try await machine.run(["bash", "-c", "\(command) sdkctl --system token desk"])
        if ended.status == 5 { #expect(ended.error.contains("(instanceNotFound)")) }
        #expect([0, 5].contains(ended.status), "\(command): \(ended.error)")
        return ended.status == 0
      }
      func being(_ user: String) -> String { "runuser -u \(user) --" }
      func unit(_ name: String, _ user: String) -> String {
        "systemd-run --quiet --wait --pipe --collect --unit=\(name).service --uid=\(user)"
      }
      let aliceUnit = "\(alice) systemd-run --user --quiet --wait --pipe --collect --unit=kiosk.service"

      #expect(try await gets("user:bob", being("bob")))
      #expect(try await !gets("user:bob", being("carol")))
      #expect(try await gets("group:desks", being("carol")))
      #expect(try await !gets("group:desks", being("bob")))

      #expect(try await gets("unit:kiosk.service", unit("kiosk", "bob")))
      #expect(try await !gets("unit:kiosk.service", unit("other", "bob")))
      #expect(try await !gets("unit:kiosk.service", being("bob")))
      #expect(try await !gets("unit:kiosk.service", aliceUnit), "a user's unit of that name")
      // A user can create a control group of any name below their manager. It does not count as a system unit.
      let forged =
        "\(alice) bash -c 'd=/sys/fs/cgroup/unified; [ -e $d ] || d=/sys/fs/cgroup; "
        + "d=$d/user.slice/user-$UID.slice/user@$UID.service/kiosk.service; mkdir -p $d; echo $$ > $d/cgroup.procs; exec \"$@\"' sh"
      #expect(try await !gets("unit:kiosk.service", forged))

      #expect(try await gets("user-unit:kiosk.service@alice", aliceUnit))
      #expect(try await !gets("user-unit:kiosk.service@bob", aliceUnit))
      #expect(try await !gets("user-unit:kiosk.service@alice", unit("kiosk", "alice")))

      // As GNOME names the scope of a program that it has started.
      let scope = "\(alice) systemd-run --user --scope --quiet --collect --unit=app-gnome-org.example.Kiosk-4711.scope"
      #expect(try await gets("user-scope:org.example.Kiosk@alice", scope))
      #expect(try await !gets("user-scope:org.example.Kiosk@bob", scope))
      #expect(try await !gets("user-scope:org.example.Other@alice", scope))
      #expect(try await !gets("user-scope:org.example.Kiosk@alice", aliceUnit))

      #expect(try await gets("unit:kiosk.service+user:carol+group:desks", unit("kiosk", "carol")))
      #expect(try await !gets("unit:kiosk.service+user:carol", unit("kiosk", "bob")))
      #expect(try await !gets("unit:kiosk.service+user:carol", unit("other", "carol")))
    }
  }
}
