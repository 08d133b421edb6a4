import Testing

/// Access rules for users and groups of an LDAP directory, with OpenLDAP's server (`slapd`) and Debian's client for it
/// (`nslcd`, behind nsswitch.conf(5)).
@Suite struct LDAPTests {
  /// Starts the server with the group desks and the users otto and nina, and the client.
  private func startDirectory(_ machine: Machine) async throws {
    try await machine.sh(
      #"""
      install -d /var/lib/directory; install -d -o nslcd -g nslcd /run/nslcd
      cat > /etc/ldap/directory.conf <<'END'
      include /etc/ldap/schema/core.schema
      include /etc/ldap/schema/cosine.schema
      include /etc/ldap/schema/nis.schema
      modulepath /usr/lib/ldap
      moduleload back_mdb
      database mdb
      directory /var/lib/directory
      suffix dc=example,dc=com
      rootdn cn=admin,dc=example,dc=com
      rootpw admin
      END
      slapadd -f /etc/ldap/directory.conf <<'END'
      dn: dc=example,dc=com
      objectClass: dcObject
      objectClass: organization
      dc: example
      o: Example

      dn: cn=desks,dc=example,dc=com
      objectClass: posixGroup
      cn: desks
      gidNumber: 7000

      dn: uid=otto,dc=example,dc=com
      objectClass: account
      objectClass: posixAccount
      uid: otto
      cn: Otto
      uidNumber: 7001
      gidNumber: 7001
      homeDirectory: /

      dn: uid=nina,dc=example,dc=com
      objectClass: account
      objectClass: posixAccount
      uid: nina
      cn: Nina
      uidNumber: 7002
      gidNumber: 7002
      homeDirectory: /
      END
      cat > /etc/nslcd.conf <<'END'
      uid nslcd
      gid nslcd
      uri ldap://127.0.0.1/
      base dc=example,dc=com
      nss_initgroups_ignoreusers ALLLOCAL
      reconnect_sleeptime 1
      reconnect_retrytime 1
      END
      sed -i -E 's/^(passwd|group):.*/& ldap/' /etc/nsswitch.conf
      systemd-run --quiet --unit=directory /usr/sbin/slapd -d 0 -f /etc/ldap/directory.conf -h ldap://127.0.0.1/
      systemd-run --quiet --unit=directory-client /usr/sbin/nslcd --nofork
      """#)
    try await machine.eventually("the directory answers", "getent passwd otto && getent group desks")
  }

  /// Returns a command that runs as a uid, with the groups of these numbers. `setpriv(1)` would look the numbers up as names,
  /// and wait for the directory.
  private static func being(_ numbers: String, _ command: String) -> String {
    let change = "n = [int(x) for x in sys.argv[1].split()]; os.setgroups(n[1:]); os.setgid(n[0]); os.setuid(n[0])"
    return "python3 -c 'import os, sys; \(change); os.execvp(sys.argv[2], sys.argv[2:])' '\(numbers)' \(command)"
  }

  @Test func rulesHoldForUsersOfADirectoryAlsoWhileItFails() async throws {
    try await Machine.with { machine in
      try await startDirectory(machine)
      try await machine.startSandbox()
      try await machine.signIn("someone", at: "desk", "--access-use user:otto --access-use group:desks")

      let otto = "7001", nina = "7002", ninaAtTheDesks = "7002 7000"
      func token(_ caller: String) -> String { Self.being(caller, "sdkctl --system token desk") }
      func isRefused(_ caller: String) async throws -> Bool {
        let ended = try await machine.run(["bash", "-c", token(caller)])
        if ended.status != 0 { #expect(ended.status == 5 && ended.error.contains("(instanceNotFound)"), "\(ended)") }
        return ended.status != 0
      }
      for caller in [otto, ninaAtTheDesks] { try await machine.eventually("names are found", token(caller)) }
      #expect(try await isRefused(nina))

      // The server takes connections and does not answer. The daemon starts and serves all others meanwhile.
      try await machine.sh("systemctl kill --signal=STOP directory; systemctl restart sdkd; sdkctl token desk")
      #expect(try await isRefused(otto))
      try await machine.sh("systemctl kill --signal=CONT directory")
      for caller in [otto, ninaAtTheDesks] {
        try await machine.eventually("names are found again", within: 60, token(caller))
      }

      // The server has ended, then its client, too. What was found before stays valid.
      for unit in ["directory", "directory-client"] {
        try await machine.sh("systemctl stop \(unit)")
        try await machine.eventually("look-ups fail", "! getent passwd otto")
        try await machine.sh("systemctl reload sdkd")
        // The look-ups of the reload end during these calls.
        for caller in Array(repeating: [otto, ninaAtTheDesks], count: 20).joined() {
          #expect(try await !isRefused(caller), "without \(unit)")
        }
      }
    }
  }

  @Test func aUserWhoLeavesTheDirectoryLosesTheRole() async throws {
    try await Machine.with { machine in
      try await startDirectory(machine)
      try await machine.startSandbox()
      try await machine.signIn("someone", at: "desk", "--access-use user:otto")
      let token = Self.being("7001", "sdkctl --system token desk")
      try await machine.eventually("the name is found", token)
      try await machine.sh(
        "ldapdelete -x -H ldap://127.0.0.1/ -D cn=admin,dc=example,dc=com -w admin uid=otto,dc=example,dc=com")
      try await machine.sh("systemctl reload sdkd")
      try await machine.eventually("the role is gone", "! \(token)")
    }
  }
}
