import Foundation
import JSONRPC
import Testing

/// The OCI image and the checksums of a release. A container of it runs in namespaces, without a container manager and without systemd.
@Suite struct ImageTests {
  /// Folders for the state and the socket, which the image's user owns.
  private func folders(_ image: Image) async throws -> (folder: URL, state: String, sockets: String) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("image-\(UUID().uuidString)")
    let (state, sockets) = (folder.appendingPathComponent("state").path, folder.appendingPathComponent("run").path)
    let made = try await Machine.run([
      "/bin/sh", "-c", "mkdir -p \"$1\" \"$2\" && chown \(image.user) \"$@\"", "sh", state, sockets,
    ])
    #expect(made.status == 0, "\(made.error)")
    return (folder, state, sockets)
  }

  @Test("The image has an ordinary user, the daemon as entry point, a volume, and blobs that match their digests")
  func layout() async throws {
    let image = try Image()
    #expect(image.configuration["Entrypoint"] == ["/usr/bin/sdkd"])
    #expect(image.configuration["Volumes"]?["/var/lib/sdkd"] == [:])
    // A number: Kubernetes can't tell whether a name is root's.
    #expect(image.user.contains(/^[1-9]\d*:[1-9]\d*$/), "\(image.user)")
    let sums = try await Machine.run(["/bin/sh", "-c", "cd \(Image.layout)/blobs/sha256 && sha256sum *"])
    let lines = sums.output.split(separator: "\n").map { $0.split(separator: " ") }
    #expect(lines.count == 3 && lines.allSatisfy { $0.count == 2 && $0[0] == $0[1] }, "\(sums)")
    let layer = image.manifest["layers"]?.arrayValue?.first
    let size = try FileManager.default.attributesOfItem(atPath: Image.path(layer?["digest"]))[.size] as? Int
    #expect(size == layer?["size"]?.intValue)
    // The image has no file of the machine that made it.
    for file in ["/etc/resolv.conf", "/etc/hostname", "/etc/apt/sources.list", "/etc/apt/sources.list.d/sdkd.sources"] {
      #expect(!FileManager.default.fileExists(atPath: Image.root + file), "\(file)")
    }
  }

  @Test("A container runs without systemd and privileges, and the next ones with the same volume have its users")
  func aUserStaysSignedIn() async throws {
    let image = try Image()
    let (folder, state, sockets) = try await folders(image)
    defer { try? FileManager.default.removeItem(at: folder) }
    _ = try await HostProgram.with(["\(MachineRoot.programs)/sdk-sandbox", "--port", "0"]) { sandbox in
      let url = try await sandbox.printed(/http:\/\/127\.0\.0\.1:\d+/)
      let jwt = try await Machine.run(["\(MachineRoot.programs)/sdk-sandbox", "mint", "--external-id", "alice"]).output
      let settings = [
        "--kind", "zendesk.messaging", "--setting", "base_url=\(url)/zm", "--setting",
        "app_id=5f0000000000000000000001",
      ]
      let first = try await Container.with(image, state: state, sockets: sockets) { container in
        let status = try String(contentsOfFile: "/proc/\(container.leader)/status", encoding: .utf8)
        let user = String(image.user.prefix { $0 != ":" })
        #expect(
          status.contains("Uid:\t\(user)\t\(user)\t\(user)\t\(user)\n") && status.contains("CapEff:\t0000000000000000"))
        #expect(status.contains(/NSpid:\t\d+\t1\n/))
        for words in [["create", "desk"] + settings, ["login", "desk"]] {
          let run = try await container.run(["sdkctl"] + words, input: words[0] == "login" ? jwt : "")
          #expect(run.status == 0, "\(words): \(run)")
        }
        // Without a system's journal, units and clock.
        let doctor = try await container.run(["sdkctl", "doctor"])
        #expect(doctor.status == 0, "\(doctor)")
        #expect(!(doctor.output + doctor.error).contains("systemctl"), "\(doctor)")
        // A program in a container of its own, which shares the socket.
        let update = try await container.run(["sdkctl", "update", "desk", "--access-use", "uid:1500"])
        #expect(update.status == 0, "\(update)")
        let other = try await Machine.run(
          image.command(state: folder.path, sockets: sockets, user: "1500:1500", program: ["sdkctl", "token", "desk"]))
        #expect(other.output == jwt, "\(other)")
        // Rules hold for other users of the container.
        let stranger = try await container.run(["sdkctl", "token", "desk"], user: 65534)
        #expect(stranger.status == 5, "\(stranger)")
        #expect(try await container.run(["touch", "/etc/new"]).status != 0, "the root is read-only")
      }
      #expect(first.status == 0)
      let second = try await Container.with(image, state: state, sockets: sockets) { container in
        let token = try await container.run(["sdkctl", "token", "desk"])
        #expect(token.output == jwt, "\(token)")
        for words in [["backup", "monday"], ["create", "later"] + settings] {
          let run = try await container.run(["sdkctl"] + words)
          #expect(run.status == 0, "\(words): \(run)")
        }
      }
      #expect(second.status == 0)
      let restore = try await Machine.run(
        image.command(
          state: state, sockets: sockets, program: ["sdkctl", "restore", "--state", "/var/lib/sdkd", "monday"]))
      #expect(restore.status == 0 && !restore.error.contains("systemctl"), "\(restore)")
      let third = try await Container.with(image, state: state, sockets: sockets) { container in
        let token = try await container.run(["sdkctl", "token", "desk"])
        #expect(token.output == jwt, "\(token)")
        #expect(try await container.run(["sdkctl", "show", "later"]).status == 5)
      }
      #expect(third.status == 0)
    }
  }

  @Test("A secret of the container manager is the root key, which then is not in the volume")
  func secret() async throws {
    let image = try Image()
    let (folder, state, sockets) = try await folders(image)
    defer { try? FileManager.default.removeItem(at: folder) }
    let key = "head -c 32 /dev/urandom >\"$1/sdkd.key\"; chown \(image.user) \"$1/sdkd.key\"; chmod 400 \"$1/sdkd.key\""
    #expect(try await Machine.run(["/bin/sh", "-c", key, "sh", sockets]).status == 0)
    let variables = ["CREDENTIALS_DIRECTORY=/run/sdkd"]
    _ = try await Container.with(image, state: state, sockets: sockets, variables: variables) { container in
      let status = try await container.run(["sdkctl", "status"])
      #expect(status.output.contains(/key +sdkd\.key\n/), "\(status)")
      #expect(!FileManager.default.fileExists(atPath: state + "/root.key"))
    }
  }

  @Test("The checksums are signed with the repository's key, and hold for every file")
  func checksums() async throws {
    let checked = try await Machine.run([
      "bash", "-euo", "pipefail", "-c",
      """
      cd '\(MachineRoot.releases)/first'
      gpgv --quiet --keyring ./sdkd-archive-keyring.gpg SHA256SUMS.asc SHA256SUMS
      sha256sum --quiet --check SHA256SUMS
      find . -type f ! -path './dists/*' ! -name 'SHA256SUMS*' -printf '%P\\n' | LC_ALL=C sort | diff - <(sed 's/^[0-9a-f]*  //' SHA256SUMS)
      """,
    ])
    #expect(checked.status == 0, "\(checked)")
  }
}
