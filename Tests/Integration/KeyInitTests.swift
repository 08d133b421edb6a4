import Foundation
import Glibc
import Testing

/// `sdkctl key init` on a machine whose `/etc` and `/var/lib` are the test's own.
@Suite(
  .enabled(if: getuid() == 0, "needs root to mount"),
  .enabled(if: access("/usr/bin/systemd-creds", X_OK) == 0, "needs systemd-creds"))
struct KeyInitTests {
  private static let script = """
    set -eu
    folder=$1 sdkctl=$2 sdkd=$3
    mkdir "$folder/etc" "$folder/credentials"
    cp -a /etc/. "$folder/etc/"
    mount --bind "$folder/etc" /etc
    mount -t tmpfs tmpfs /var/lib
    credential=/etc/credstore.encrypted/sdkd.key
    decrypt() { systemd-creds decrypt --name=sdkd.key $credential - 2>/dev/null; }
    refused() { # WORD COMMAND…: the command fails and says the word
      word=$1; shift
      if "$@" >"$folder/said" 2>&1; then echo "not refused: $*"; exit 1; fi
      grep -q -- "$word" "$folder/said" || { cat "$folder/said"; echo "no $word: $*"; exit 1; }
    }

    # Without a state a new key is made.
    "$sdkctl" key init --template '{recoveryKey}' >"$folder/right"
    "$sdkctl" --tenant other key init --template '{recoveryKey}' >"$folder/wrong"
    decrypt >"$folder/credentials/sdkd.key"
    CREDENTIALS_DIRECTORY="$folder/credentials" "$sdkd" --state /var/lib/sdkd --socket "$folder/s" 2>"$folder/log" &
    until grep -q 'sdkd: ready' "$folder/log"; do kill -0 $!; sleep 0.05; done
    kill $!; wait $!
    refused already "$sdkctl" key init
    "$sdkctl" --tenant other key rotate --outer >"$folder/said" 2>&1
    grep -q 'sdkctl --tenant other key rotate --finish' "$folder/said" || { cat "$folder/said"; exit 1; }

    # The credential is lost: neither a new key nor another recovery key takes its place.
    rm $credential
    refused keyMissing "$sdkctl" key init
    refused 'does not open the state' "$sdkctl" key init --recovery <"$folder/wrong"
    test ! -e $credential

    # The doctor names what is wrong with the key, and the command that mends it.
    diagnosed() { # WORD: the doctor says the word and the command
      "$sdkctl" --system doctor >"$folder/doctor" 2>&1 || true
      grep -q -- "$1" "$folder/doctor" && grep -q 'sdkctl key init --recovery' "$folder/doctor" \
        || { cat "$folder/doctor"; echo "no $1"; exit 1; }
    }
    diagnosed 'neither /var/lib/sdkd/root.key nor a credential'
    echo junk >$credential
    diagnosed "can't be decrypted"
    rm $credential
    head -c 32 /dev/urandom >/var/lib/sdkd/root.key
    chmod 600 /var/lib/sdkd/root.key
    diagnosed 'is not the key that the state is sealed with'

    # A daemon runs on it, as on a machine of its own key where a backup was restored: each command names the cure.
    mount -t tmpfs tmpfs /run
    mkdir -p /run/sdkd
    "$sdkd" --state /var/lib/sdkd --socket /run/sdkd/sdkd.sock 2>"$folder/log2" &
    until grep -q 'sdkd: ready' "$folder/log2"; do kill -0 $!; sleep 0.05; done
    chmod 666 /run/sdkd/sdkd.sock
    for words in "$sdkctl list" "$sdkctl status" "$sdkctl doctor" \
      "setpriv --reuid=65534 --regid=65534 --clear-groups $sdkctl doctor"; do
      $words --system >"$folder/said" 2>&1 || true
      grep -q 'sdkctl key init --recovery' "$folder/said" && ! grep -q 'sdkctl key init,' "$folder/said" \
        || { cat "$folder/said"; echo "no cure: $words"; exit 1; }
    done
    kill $!; wait $!
    umount /run
    rm /var/lib/sdkd/root.key

    # A credential that opens nothing is found out, and replaced by the right recovery key alone.
    head -c 32 /dev/urandom | systemd-creds encrypt --with-key=host --name=sdkd.key - $credential 2>/dev/null
    "$sdkctl" --system doctor >"$folder/doctor" 2>&1 || true
    grep -q 'does not open the state' "$folder/doctor" || { cat "$folder/doctor"; exit 1; }
    before=$(sha256sum <$credential)
    refused 'does not open the state' "$sdkctl" key init --recovery <"$folder/wrong"
    test "$before" = "$(sha256sum <$credential)"
    "$sdkctl" key init --recovery <"$folder/right"
    decrypt | cmp - "$folder/credentials/sdkd.key"
    "$sdkctl" --system doctor >"$folder/doctor" 2>&1 || true
    grep -q 'sealed under the credential' "$folder/doctor" || { cat "$folder/doctor"; exit 1; }
    refused already "$sdkctl" key init --recovery <"$folder/right"

    # After a rotation the daemon still has the credentials of its start, and --finish says so each time.
    "$sdkctl" key rotate --outer >"$folder/said" 2>&1
    systemd-creds decrypt --name=sdkd.key.next $credential.next - >"$folder/credentials/sdkd.key.next" 2>/dev/null
    mount -t tmpfs tmpfs /run
    mkdir -p /run/sdkd
    CREDENTIALS_DIRECTORY="$folder/credentials" "$sdkd" --state /var/lib/sdkd --socket /run/sdkd/sdkd.sock \
      2>"$folder/log3" &
    until grep -q 'sdkd: ready' "$folder/log3"; do kill -0 $!; sleep 0.05; done
    "$sdkctl" key rotate --finish >"$folder/said" 2>&1 || { cat "$folder/said"; exit 1; }
    grep -q 'status names sdkd.key.next until the next restart, which is not needed' "$folder/said" \
      || { cat "$folder/said"; echo "no word of the restart"; exit 1; }
    "$sdkctl" --system status >"$folder/said" 2>&1 || true
    grep -q 'sdkd.key.next' "$folder/said" || { cat "$folder/said"; echo "status does not name it"; exit 1; }
    refused 'status names sdkd.key.next until the daemon is restarted' "$sdkctl" key rotate --finish
    test ! -e $credential.next
    kill $!; wait $!
    echo done
    """

  /// A script that runs the doctor's check of the key while a program hangs: `systemd-creds`, then `sdkd
  /// --inspect-key`.
  private static let hangingScript = """
    set -eu
    folder=$1 sdkctl=$2 sdkd=$3
    mkdir "$folder/etc" "$folder/bin"
    cp -a /etc/. "$folder/etc/"
    mount --bind "$folder/etc" /etc
    mount -t tmpfs tmpfs /var/lib
    "$sdkctl" key init --template '{recoveryKey}' >/dev/null
    check() { # the doctor ends, looks at the rest too, and says that a program did not end
      timeout -s KILL 60 "$sdkctl" --system doctor -o jsonl >"$folder/found" 2>/dev/null || status=$?
      test "${status:-0}" = 1 || { echo "ended with ${status:-0}"; cat "$folder/found"; exit 1; }
      grep '"check":"key"' "$folder/found" | grep -q "can't be run: it took too long" \\
        && grep -q '"check":"journal"' "$folder/found" || { cat "$folder/found"; exit 1; }
    }
    program() { # PATH: makes a program of what it reads
      { echo '#!/bin/sh'; cat; } >"$1"
      chmod 755 "$1"
    }
    PATH="$folder/bin:$PATH"
    echo 'exec sleep 600' | program "$folder/bin/systemd-creds"
    check
    echo 'exec head -c 32 /dev/zero' | program "$folder/bin/systemd-creds"
    echo 'case "$*" in *--inspect-key*) exec sleep 600 ;; esac' | program "$folder/sdkd"
    mount --bind "$folder/sdkd" "$sdkd"
    check
    echo done
    """

  @Test("The doctor reports a program that hangs while it looks at the key")
  func theDoctorReportsAProgramThatHangs() throws { try run(Self.hangingScript) }

  @Test("A root key is made or replaced only where it opens the state")
  func aRootKeyIsMadeOnlyWhereItOpensTheState() throws { try run(Self.script) }

  /// Runs a script with mounts of its own, whose last line of output is `done`.
  private func run(_ text: String) throws {
    let desk = try Desk()
    let script = try desk.write("script.sh", text)
    let output = desk.folder.appendingPathComponent("script-out")
    let program = try Program(
      "/usr/bin/unshare",
      ["--mount", "--propagation", "private", "/bin/bash", script.path, desk.folder.path, Program.path("sdkctl")]
        + [Program.path("sdkd")], output: output, log: desk.folder.appendingPathComponent("script-err"))
    let status = program.exit(within: 120)
    let said = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
    #expect(status == 0 && said.hasSuffix("done\n"), "\(said)\(program.logText)")
  }
}
