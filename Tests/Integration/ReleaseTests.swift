import Foundation
import Testing

/// `Packaging/release` on trees that are no release, and the list of what is linked in.
@Suite struct ReleaseTests {
  private static let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// A script that makes a copy of the files that `Packaging/release` reads, a repository of git with the tag `v0.1.0`,
  /// and then runs a change and `Packaging/release`.
  private static let script = """
    set -euo pipefail
    project=$1 folder=$2 change=$3
    shift 3
    cd "$folder"
    for file in Packaging/release Packaging/install-dependencies Packaging/debian/changelog \\
      Sources/SDKProtocol/Values/SDKVersion.swift; do
      install -D "$project/$file" "$file"
    done
    sed -i '1s/(.*)/(0.1.0)/' Packaging/debian/changelog
    sed -i 's/program = ".*"/program = "0.1.0"/' Sources/SDKProtocol/Values/SDKVersion.swift
    export HOME=$folder GIT_CONFIG_NOSYSTEM=1
    git init --quiet
    git config user.name tests
    git config user.email tests@packages.invalid
    commit() { git add --all && git commit --quiet --message="$1"; }
    commit one
    git tag v0.1.0
    eval "$change"
    exec Packaging/release "$@"
    """

  /// A change of the tree at the tag, the arguments, and words of the error.
  static let refusals: [(change: String, arguments: [String], words: String)] = [
    ("git tag --delete v0.1.0 >/dev/null", ["--key", "x"], "The current commit has no tag."),
    (":", ["--key", "x", "v9.9.9"], "There is no tag v9.9.9."),
    ("echo >>Packaging/debian/changelog", ["--key", "x"], " M Packaging/debian/changelog"),
    ("echo >new", ["--key", "x", "v0.1.0"], "?? new"),
    ("touch new; commit two", ["--key", "x", "v0.1.0"], "The tree is not at the tag v0.1.0."),
    ("touch new; commit two; git tag v0.2.0", ["--key", "x"], "The tag is v0.2.0, but Packaging/debian/changelog has"),
    (
      "sed -i s/0.1.0/0.1.1/ Sources/SDKProtocol/Values/SDKVersion.swift; commit two; git tag --force v0.1.0 >/dev/null",
      ["--key", "x"], "has the version 0.1.1, but"
    ),
    (":", [], "Say with --key which key signs the release."),
    (":", ["--key"], "usage: Packaging/release --key KEY"), (":", ["--fast"], "usage: Packaging/release --key KEY"),
  ]

  @Test("A tree that is not at a clean tag of its version is no release", arguments: refusals.indices)
  func refused(index: Int) throws {
    let (change, arguments, words) = Self.refusals[index]
    let desk = try Desk()
    let tree = desk.folder.appendingPathComponent("tree")
    try FileManager.default.createDirectory(at: tree, withIntermediateDirectories: true)
    let (output, log) = (desk.folder.appendingPathComponent("out"), desk.folder.appendingPathComponent("err"))
    let program = try Program(
      "/bin/bash", ["-c", Self.script, "bash", Self.project.path, tree.path, change] + arguments, output: output,
      log: log)
    #expect(program.exit(within: 60) != 0)
    #expect(program.logText.contains(words), "\(program.logText)")
    #expect(!FileManager.default.fileExists(atPath: tree.path + "/.build"))
  }

  @Test("The list of what is linked in has each library with its version and licence, and no host but GitHub")
  func linkedLibraries() throws {
    let desk = try Desk()
    let (output, log) = (desk.folder.appendingPathComponent("out"), desk.folder.appendingPathComponent("err"))
    let program = try Program(
      "/bin/sh", ["-c", "cd \"$1\" && Packaging/release.d/spdx .build/checkouts", "sh", Self.project.path],
      output: output, log: log)
    #expect(program.exit(within: 60) == 0, "\(program.logText)")
    struct Document: Decodable {
      struct Package: Decodable {
        let SPDXID, name, downloadLocation, licenseDeclared, copyrightText: String
        let versionInfo: String?
      }
      struct Relationship: Decodable { let spdxElementId, relationshipType, relatedSpdxElement: String }
      let spdxVersion: String
      let packages: [Package]
      let relationships: [Relationship]
    }
    let document = try JSONDecoder().decode(Document.self, from: Data(contentsOf: output))
    #expect(document.spdxVersion == "SPDX-2.3")
    let resolved = try String(contentsOf: Self.project.appendingPathComponent("Package.resolved"), encoding: .utf8)
    let pins = resolved.matches(of: /"identity" : "([^"]+)"(?s:.*?)"version" : "([^"]+)"/)
    #expect(pins.count > 10)
    // Fetched with other libraries. Nothing of them is compiled.
    let unused = ["swift-asn1": "SwiftASN1", "swift-certificates": "X509", "swift-crypto": "CCryptoBoringSSL"]
    for (_, module) in unused {
      let folder = FileManager.default.enumerator(atPath: "\(Self.project.path)/.build/debug/\(module).build")
      #expect(folder?.contains { "\($0)".hasSuffix(".o") } != true, "\(module)")
    }
    for pin in pins where unused[String(pin.1)] == nil {
      let package = document.packages.first { $0.name == String(pin.1) }
      #expect(package?.versionInfo == String(pin.2), "\(pin.1)")
    }
    #expect(document.packages.contains { $0.name == "BoringSSL" })
    let locations = document.packages.map(\.downloadLocation).filter { $0 != "NOASSERTION" }
    #expect(locations.allSatisfy { $0.hasPrefix("git+https://github.com/") }, "\(locations)")
    let ids = document.packages.map(\.SPDXID)
    #expect(Set(ids).count == ids.count && ids.allSatisfy { $0.wholeMatch(of: /SPDXRef-[A-Za-z0-9.-]+/) != nil })
    for package in document.packages.dropFirst(2) {
      #expect(package.licenseDeclared != "" && package.copyrightText != "")
      // FlyingFox is a part of the sandbox only.
      let programs = document.relationships.filter { $0.relatedSpdxElement == package.SPDXID }.map(\.spdxElementId)
      let all = package.name == "flyingfox" ? ["SPDXRef-sdk-sandbox"] : ["SPDXRef-sdkd", "SPDXRef-sdk-sandbox"]
      #expect(programs == all, "\(package.name)")
    }
  }
}
