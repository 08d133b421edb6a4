import Foundation
import JSONRPC

/// The image of the release that `Tests/System/Releases/make-releases` made, unpacked.
struct Image: Sendable {
  /// The manifest that `index.json` leads to.
  let manifest: JSON
  /// The image's settings for a start: user, variables, entry point, volumes.
  let configuration: JSON

  init() throws {
    let index = try JSONParser.parse(String(contentsOfFile: Self.layout + "/index.json", encoding: .utf8))
    manifest = try Self.blob(index["manifests"]?.arrayValue?.first?["digest"])
    configuration = try Self.blob(manifest["config"]?["digest"])["config"] ?? .null
  }

  /// The folder with the layout of the image: `index.json` and the blobs.
  static let layout = MachineRoot.releases + "/image"
  /// The folder with the files of the image.
  static let root = MachineRoot.releases + "/image-root"

  /// Returns the path of a blob.
  static func path(_ digest: JSON?) -> String {
    "\(layout)/blobs/\((digest?.stringValue ?? "?").replacing(":", with: "/"))"
  }

  private static func blob(_ digest: JSON?) throws -> JSON {
    try JSONParser.parse(String(contentsOfFile: path(digest), encoding: .utf8))
  }

  /// The user and group of the image's programs.
  var user: String { configuration["User"]?.stringValue ?? "0:0" }

  /// The variables, as `NAME=VALUE`.
  var environment: [String] { configuration["Env"]?.arrayValue?.compactMap(\.stringValue) ?? [] }

  /// The command that starts a container.
  ///
  /// - Parameters:
  ///   - user: the user and group of its program; `nil` for those of the image.
  ///   - variables: variables besides those of the image, as `NAME=VALUE`.
  ///   - program: the program with its arguments; `nil` for the entry point of the image.
  func command(
    state: String, sockets: String, user: String? = nil, variables: [String] = [], program: [String]? = nil
  ) -> [String] {
    let script = MachineRoot.project.appendingPathComponent("Tests/System/Releases/container").path
    return [script, Self.root, state, sockets, user ?? self.user] + environment + variables + ["--"]
      + (program ?? configuration["Entrypoint"]?.arrayValue?.compactMap(\.stringValue) ?? [])
  }
}

/// A container that runs.
struct Container: Sendable {
  let image: Image
  /// The process ID of its first process, as seen from the host.
  let leader: Int32

  /// Starts a container of the image, waits until its daemon is ready, runs `body` and stops it as an engine does.
  ///
  /// - Returns: the result of `body`, and the exit status of the container.
  static func with<Result: Sendable>(
    _ image: Image, state: String, sockets: String, variables: [String] = [],
    _ body: @escaping @Sendable (Container) async throws -> Result
  ) async throws -> (result: Result, status: Int32) {
    try await HostProgram.with(image.command(state: state, sockets: sockets, variables: variables)) { program in
      _ = try await program.printed(/sdkd: ready/)
      guard let leader = Machine.child(of: program.process) else {
        throw Machine.Failure(description: "The container has no process.")
      }
      return try await body(Container(image: image, leader: leader))
    }
  }

  /// Runs a program in the container, as `podman exec` does.
  func run(_ command: [String], user: Int = 0, input: String = "") async throws -> Machine.Ended {
    try await Machine.run(
      [
        "/usr/bin/nsenter", "--target", String(leader), "--mount", "--pid", "--ipc", "--uts", "--root", "--wd",
        "--setuid", String(user), "--setgid", String(user), "--", "/usr/bin/env", "--ignore-environment",
      ] + image.environment + command, input: input)
  }
}
