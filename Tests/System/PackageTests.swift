import Testing

/// The package as it is installed on a booted Debian.
@Suite struct PackageTests {
  @Test func socketAndServiceAreEnabledAndRun() async throws {
    try await Machine.with { machine in
      let states = try await machine.sh(
        "systemctl is-enabled sdkd.socket sdkd.service; systemctl is-active sdkd.socket")
      #expect(states.output == "enabled\nenabled\nactive\n")
      let list = try await machine.sh("sdkctl list -o json")
      #expect(list.output == "[]\n")
    }
  }
}
