import Foundation
import Testing

/// The units, checked by systemd's own tools.
@Suite struct UnitTests {
  @Test func systemdFindsNothingToComplainAbout() async throws {
    try await Machine.with { machine in
      try await machine.enableProvider("front-desk", program: "/usr/bin/true")
      let manuals = "--man=$(test -e /usr/bin/man && echo yes || echo no)"
      let system = try await machine.sh(
        """
        systemd-analyze verify \(manuals) sdkd.socket sdkd.service sdkd@acme.socket sdkd@acme.service \
          sdkd-key@sdkd.service sdkd-key@sdkd@acme.service \
          sdkd-provider-front-desk.socket sdkd-provider-front-desk@1.service sdkd-failed@sdkd.service.service
        """)
      #expect(system.error == "")
      let alice = try await machine.user("alice")
      #expect(
        try await machine.sh(
          "\(alice) systemd-analyze --user verify \(manuals) sdkd.socket sdkd.service sdkd-failed@sdkd.service.service"
        ).error == "")
    }
  }

  @Test func theSandboxesAreTight() async throws {
    try await Machine.with { machine in
      try await machine.enableProvider("front-desk", program: "/usr/bin/true")
      for (unit, limit) in [
        ("sdkd", 1.5), ("sdkd@acme", 1.5), ("sdkd-key@sdkd", 1.5), ("sdkd-provider-front-desk@1", 1.6),
        ("sdkd-failed@x", 1.6),
      ] {
        let text = try await machine.sh("systemd-analyze security --offline=no --no-pager \(unit).service").output
        let verdict = text.firstMatch(of: /exposure level for .*: ([0-9.]+)/)?.1
        let exposure = try #require(verdict.flatMap { Double($0) }, "no verdict in \(text)")
        #expect(exposure <= limit, "\(unit): \(text)")
      }
      // A container does not enforce these settings, so check that the unit requests them.
      let asked = try await machine.sh(
        "systemctl show sdkd -p MemorySwapMax -p LimitCORE -p WatchdogUSec -p NotifyAccess -p OOMPolicy -p MemoryHigh -p MemoryMax"
      ).output
      #expect(
        Set(asked.split(separator: "\n")) == [
          "MemorySwapMax=0", "LimitCORE=0", "WatchdogUSec=30s", "NotifyAccess=main", "OOMPolicy=continue",
          "MemoryHigh=1073741824", "MemoryMax=1610612736",
        ])
    }
  }

  @Test func theTenantsSandboxIsTheSystemDaemons() async throws {
    try await Machine.with { machine in
      // Print all settings of the sandbox, from the first to the last.
      let print = "sed -n '/^NoNewPrivileges=/,/^UMask=/p' /lib/systemd/system/"
      let system = try await machine.sh(print + "sdkd.service").output
      #expect(system.contains("SystemCallFilter="))
      #expect(try await machine.sh(print + "sdkd@.service").output == system)
    }
  }

  @Test func keysAreHandedOverWhereTheyAreAndAreNotNeeded() async throws {
    try await Machine.with { machine in
      try await machine.sh(
        """
        systemctl is-active sdkd.service
        install -d -m 700 /etc/credstore.encrypted
        for file in sdkd.key sdkd@acme.key; do
          head -c 32 /dev/urandom | systemd-creds encrypt --with-key=host --name=sdkd.key - /etc/credstore.encrypted/$file
        done
        systemctl restart sdkd.service
        systemctl start sdkd@acme.socket sdkd@beta.socket
        sdkctl --tenant acme status; sdkctl --tenant beta status
        """)
      let sizes = try await machine.sh(
        "cd /run/credentials; stat -c '%n %s' sdkd.service/* sdkd@acme.service/*; ls sdkd@beta.service 2>/dev/null || true"
      )
      #expect(sizes.output == "sdkd.service/sdkd.key 32\nsdkd@acme.service/sdkd.key 32\n")
    }
  }
}
