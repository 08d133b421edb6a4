import SandboxServer

/// The long part of `--help`: the demo accounts and the control requests.
enum HelpText {
  static let discussion = """
    FOR DEVELOPMENT ONLY: its secrets are public, and it shows those it receives.
    Users are \(DemoAccounts.externalIDs.joined(separator: ", ")), or whoever else you name.

    \(accounts)

    \(edna)

    NAMESPACES
      /ns/NAME before any path (/ns/t1/zm/…, /ns/t1/_control) is a copy with its
      own users, keys, options, scripts, clock and log. DELETE /ns/NAME forgets it.

    \(control)

    \(sockets)
    """
}
