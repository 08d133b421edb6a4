import Foundation
import Glibc
import JSONRPC
import Testing

/// The page "Move to another machine", typed command by command on two machines, each with an `/etc`, a `/var/lib` and a
/// secret of its own.
@Suite(
  .enabled(if: getuid() == 0, "needs root to mount"),
  .enabled(if: access("/usr/bin/systemd-creds", X_OK) == 0, "needs systemd-creds"))
struct MoveTests {
  private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Packaging/documentation/operator-guide/move.md")

  /// Returns the commands of root in a section of the page, one on each line.
  private func commands(_ section: String) throws -> String {
    let page = try String(contentsOf: Self.page, encoding: .utf8)
    let start = try #require(page.range(of: "\n## \(section)\n")).upperBound
    let text = page[start...].split(separator: "\n## ", maxSplits: 1).first ?? ""
    return text.split(separator: "\n").filter { $0.hasPrefix("# ") }.map { "\($0.dropFirst(2))\n" }.joined()
  }

  /// A script that makes a machine, and then runs what the file `steps` in its folder has. `systemctl` starts the real
  /// daemon as the packaged unit does, with the credential of the machine.
  private static let machine = #"""
    set -eu
    folder=$1 programs=$2
    mkdir -p "$folder/etc" "$folder/bin"
    cp -a /etc/. "$folder/etc/"
    mount --bind "$folder/etc" /etc
    for place in /var/lib /run /root; do mount -t tmpfs tmpfs $place; done
    cat >"$folder/bin/systemctl" <<'END'
    #!/bin/bash
    set -eu
    stop() { [ ! -e /run/pid ] || { kill "$(cat /run/pid)"; while kill -0 "$(cat /run/pid)" 2>/dev/null; do sleep 0.05; done; rm /run/pid; }; }
    start() {
      mkdir -p /run/sdkd /run/credentials
      key=/etc/credstore.encrypted/sdkd.key
      rm -f /run/credentials/sdkd.key
      [ ! -e $key ] || systemd-creds decrypt --name=sdkd.key $key /run/credentials/sdkd.key
      # Emptied first: the shell in the background may be late, and the former daemon has said the same.
      : >/run/log
      CREDENTIALS_DIRECTORY=/run/credentials sdkd >/dev/null 2>>/run/log </dev/null &
      echo $! >/run/pid
      until grep -q 'sdkd: ready' /run/log; do kill -0 $!; sleep 0.05; done
    }
    case "$1 ${2-}" in
    "disable --now" | "stop "*) stop ;;
    "enable --now" | "start "* | "restart "*) stop; start ;;
    esac
    END
    cat >"$folder/bin/apt-get" <<'END'
    #!/bin/bash
    systemctl start sdkd.socket sdkd.service
    END
    chmod 755 "$folder/bin/"*
    export PATH="$folder/bin:$programs:$PATH"
    unset SDKD_SOCKET
    trap 'systemctl stop sdkd.service' EXIT
    . "$folder/steps"
    """#

  /// Runs steps on a machine of their own, and returns what they print.
  private func run(_ steps: String, _ folder: URL, _ desk: Desk) throws -> String {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(steps.utf8).write(to: folder.appendingPathComponent("steps"))
    let script = try desk.write("machine.sh", Self.machine)
    let output = folder.appendingPathComponent("output")
    let program = try Program(
      "/usr/bin/unshare",
      ["--mount", "--propagation", "private", "/bin/bash", script.path, folder.path, Program.directory.path],
      output: output, log: folder.appendingPathComponent("errors"))
    let status = program.exit(within: 120)
    let said = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
    #expect(status == 0, "\(said)\(program.logText)")
    return said + program.logText
  }

  @Test("A user stays signed in when the page's commands are typed, and the doctor names a step that was left out")
  func theCommandsOfThePageMoveADaemon() throws {
    let desk = try Desk()
    let (old, new) = (desk.folder.appendingPathComponent("old"), desk.folder.appendingPathComponent("new"))
    let moved = desk.folder.path
    let instance = """
      id = "desk"
      kind = "zendesk.messaging"
      [settings]
      app_id = "\(Desk.app)"
      base_url = "\(try desk.vendor.messaging)"
      """
    let jwt = try Vendor.mint("alice")
    let before = """
      mkdir -p /etc/sdkd/instances.d /etc/systemd/system/sdkd.service.d
      cat >/etc/sdkd/instances.d/desk.toml <<'END'
      \(instance)
      END
      echo '[Service]' >/etc/systemd/system/sdkd.service.d/local.conf
      sdkctl key init --system --template '{recoveryKey}' >"\(moved)/recovery" 2>/dev/null
      systemctl start sdkd.service
      echo '\(jwt)' | sdkctl login desk
      sdkctl create made --kind zendesk.messaging --setting app_id=\(Desk.app) --setting base_url=\(try desk.vendor.messaging)
      echo '"kept"' | sdkctl storage put made note
      sdkctl token desk >"\(moved)/token"

      """
    _ = try run(
      before + commands("On the old machine") + "! sdkctl list\ncp /root/sdkd-move.tar.gz '\(moved)'\n", old, desk)

    let steps = try commands("On the new machine")
    let typed = steps.replacing(
      "key init --system --recovery", with: "key init --system --recovery <'\(moved)/recovery'"
    )
    .replacing("sdkctl doctor", with: "sdkctl doctor || true")
    #expect(typed != steps)
    let after = """
      sdkctl token desk | cmp - '\(moved)/token'
      sdkctl storage get made note
      test -e /etc/systemd/system/sdkd.service.d/local.conf
      test ! -e /var/lib/sdkd/root.key

      """
    let arrival = "cp '\(moved)/sdkd-move.tar.gz' /root\n"
    let end = try commands("Afterwards") + "sdkctl status\nls -A /root /var/lib/sdkd\n"
    let said = try run(arrival + typed + after + end, new, desk)
    #expect(said.contains("kept") && said.contains("sealed under the credential"), "\(said)")

    // Without the recovery key each command names it.
    let without = typed.split(separator: "\n").filter { !$0.contains("--recovery") && !$0.contains("sdkctl status") }
    let wrong = try run(
      arrival + without.joined(separator: "\n") + "\n! sdkctl list\n! sdkctl status\n",
      desk.folder.appendingPathComponent("wrong"), desk)
    #expect(wrong.components(separatedBy: "sdkctl key init --recovery").count > 3, "\(wrong)")
    #expect(!wrong.contains("sdkctl key init,"), "\(wrong)")
  }
}
