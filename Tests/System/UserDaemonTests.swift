import Foundation
import Testing

/// The daemon of a user: activated by the user's manager, with providers as child processes.
@Suite struct UserDaemonTests {
  @Test func itServesItsUserWithProvidersAsChildren() async throws {
    try await Machine.with { machine in
      let alice = try await machine.user("alice")
      try await machine.startSandbox()
      try await machine.installProviders()
      try await machine.sh("\(alice) systemctl --user enable --now sdkd.socket")
      #expect(
        try await machine.run(["bash", "-c", "\(alice) systemctl --user is-active sdkd.service"]).output == "inactive\n"
      )
      for language in Machine.languages {
        let sdkctl = "\(alice) sdkctl"
        try await machine.sh(
          """
          \(sdkctl) create \(language) \(Machine.settings) --provider-command /usr/local/libexec/\(language)-token > /dev/null
          sdk-sandbox mint --external-id \(language) | \(sdkctl) login \(language) > /dev/null
          """)
        let first = try await machine.sh("\(sdkctl) token \(language)").output
        try await machine.sh("\(sdkctl) refresh \(language)")
        #expect(try await machine.sh("\(sdkctl) token \(language)").output != first, "\(language)")
      }
      // Only the user can read the socket and the state, and a restart keeps every sign-in.
      let modes = try await machine.sh(
        "stat -c '%a %U' /run/user/$(id -u alice)/sdkd/sdkd.sock /home/alice/.local/state/sdkd"
      ).output
      #expect(modes == "600 alice\n700 alice\n")
      try await machine.sh("\(alice) systemctl --user restart sdkd.service")
      let list = try await machine.sh("\(alice) sdkctl list --template '{instance} {state}'").output
      #expect(list == "node authenticated\npython authenticated\nshell authenticated\n")
      // The line of the README starts it at each login.
      let readme = try String(contentsOf: MachineRoot.project.appendingPathComponent("README.md"), encoding: .utf8)
      let line = try #require(readme.firstMatch(of: /`(systemctl --user [^`]+)`/)?.1)
      try await machine.sh("\(alice) \(line) && \(alice) systemctl --user is-active sdkd.service")
      // The system's daemon does not have these instances.
      #expect(try await machine.sh("\(alice) sdkctl --system list -o json").output == "[]\n")
      let journal = try await machine.journal("-o cat _UID=$(id -u alice)") { !$0.isEmpty }
      #expect(!journal.contains("thread priority"), "a line of each sdkctl that tells nobody anything: \(journal)")
    }
  }
}
