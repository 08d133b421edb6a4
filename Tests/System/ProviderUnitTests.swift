import Testing

/// Token providers as units of a booted system, called by the daemon in its shipped sandbox.
@Suite struct ProviderUnitTests {
  @Test(arguments: Machine.languages) func aProviderIsAUnit(language: String) async throws {
    try await Machine.with { machine in
      try await machine.startSandbox()
      try await machine.installProviders()
      try await machine.enableProvider(language, program: "/usr/local/libexec/\(language)-token")
      try await machine.sh("echo '{\"unit\": \"\(language)\"}' > /root/provider")
      try await machine.signIn("alice", at: "desk", "--provider-file /root/provider")
      let first = try await machine.sh("sdkctl token desk").output
      try await machine.sh("sdkctl refresh desk")
      #expect(try await machine.sh("sdkctl token desk").output != first)
      // The provider unit deactivates after the run.
      let journal = try await machine.journal("-o cat -u 'sdkd-provider-\(language)@*'") {
        $0.contains("Deactivated successfully")
      }
      #expect(journal.contains("Deactivated successfully"), "\(journal)")
      try await machine.eventually(
        "the provider has ended", "! systemctl --quiet is-active 'sdkd-provider-\(language)@*'")
    }
  }

  @Test("A provider that times out is no failed unit")
  func aProviderThatTimesOutIsNoFailedUnit() async throws {
    try await Machine.with { machine in
      try await machine.startSandbox()
      try await machine.enableProvider("slow", program: "/usr/bin/sleep 600")
      try await machine.sh("echo '{\"unit\": \"slow\", \"timeout\": 1}' > /root/provider")
      try await machine.signIn("alice", at: "desk", "--provider-file /root/provider")
      #expect(try await machine.run(["sdkctl", "refresh", "desk"]).error.contains("(providerTimeout)"))
      let journal = try await machine.journal("-o cat -u 'sdkd-provider-slow@*'") {
        $0.contains("Deactivated successfully") || $0.contains("Failed with result")
      }
      #expect(journal.contains("Deactivated successfully") && !journal.contains("Failed with result"), "\(journal)")
    }
  }

  @Test func aProviderSeesNeitherTheStateNorTheSocketAndTheDaemonNotItsSecret() async throws {
    try await Machine.with { machine in
      try await machine.startSandbox()
      try await machine.sh(
        #"""
        mkdir -p /usr/local/libexec
        printf '%s\n' '#!/bin/sh' 'exec >&2' 'id -u' 'cat "$CREDENTIALS_DIRECTORY/signing-key"' \
          'for path in /var/lib/sdkd /run/sdkd/sdkd.sock /run/sdkd-tenants /run/sdkd-providers /etc/sdkd-tenants; do' \
          'ls $path; done' 'exit 77' > /usr/local/libexec/nosy
        chmod 755 /usr/local/libexec/nosy
        mkdir -p /etc/systemd/system/sdkd-provider-nosy@.service.d
        printf 'open sesame\n' | systemd-creds encrypt --with-key=host --name=signing-key - /etc/nosy.key
        printf '[Service]\nLoadCredentialEncrypted=signing-key:/etc/nosy.key\n' \
          > /etc/systemd/system/sdkd-provider-nosy@.service.d/local.conf
        echo '{"unit": "nosy"}' > /root/provider
        """#)
      try await machine.enableProvider("nosy", program: "/usr/local/libexec/nosy")
      try await machine.signIn("alice", at: "desk", "--provider-file /root/provider")
      #expect(try await machine.run(["sdkctl", "refresh", "desk"]).error.contains("(providerDenied)"))
      let journal = try await machine.journal("-o cat -u 'sdkd-provider-nosy@*'") { $0.contains("/etc/sdkd-tenants") }
      #expect(journal.contains("open sesame"), "\(journal)")
      for path in [
        "/var/lib/sdkd", "/run/sdkd/sdkd.sock", "/run/sdkd-tenants", "/run/sdkd-providers", "/etc/sdkd-tenants",
      ] {
        let refused = journal.split(separator: "\n").contains {
          $0.contains("'\(path)'") && $0.hasSuffix("Permission denied")
        }
        #expect(refused, "\(path): \(journal)")
      }
      let uid = try #require(journal.split(separator: "\n").compactMap { UInt32($0) }.first)
      #expect((61184...65519).contains(uid), "a dynamic user")
      let decrypt = "systemd-creds decrypt --name=signing-key /etc/nosy.key -"
      #expect(try await machine.sh(decrypt).output == "open sesame\n")
      #expect(try await machine.run(["bash", "-c", "runuser -u sdkd -- \(decrypt)"]).status != 0)
    }
  }
}
