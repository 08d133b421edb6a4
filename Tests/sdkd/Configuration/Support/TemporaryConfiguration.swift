import Glibc
import SDKInstances

@testable import sdkd

/// A configuration in a temporary directory, which is deleted when this object is deinitialized.
final class TemporaryConfiguration {
  let directory: String
  private var files: [String] = []

  init() throws {
    var template = Array("/tmp/sdkd-configuration-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure() }
    directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    mkdir("\(directory)/instances.d", 0o700)
    mkdir("\(main).d", 0o700)
  }

  struct Failure: Error {}

  var main: String { "\(directory)/sdkd.toml" }

  /// Returns the path of a drop-in.
  func dropIn(_ name: String) -> String { "\(main).d/\(name).toml" }

  /// Returns the path of an instance's file.
  func instance(_ name: String) -> String { "\(directory)/instances.d/\(name).toml" }

  /// Writes a file and returns its path. A relative `path` is below the directory.
  @discardableResult
  func write(_ path: String, _ text: String, mode: mode_t = 0o600) throws -> String {
    try write(path, bytes: Array(text.utf8), mode: mode)
  }

  @discardableResult
  func write(_ path: String, bytes: [UInt8], mode: mode_t = 0o600) throws -> String {
    let path = path.hasPrefix("/") ? path : "\(directory)/\(path)"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure() }
    defer { close(descriptor) }
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count, fchmod(descriptor, mode) == 0 else {
      throw Failure()
    }
    files.append(path)
    return path
  }

  /// Registers another file or directory for deletion.
  func adopt(_ path: String) { files.append(path) }

  func load(_ kinds: [any SDKKind] = [FakeKind()], commandNeedsSameUid: Bool = false) -> ConfigurationLoader.Loaded {
    ConfigurationLoader.load(
      path: main, kinds: kinds, credentialsDirectory: directory, commandNeedsSameUid: commandNeedsSameUid)
  }

  deinit {
    for file in files where unlink(file) != 0 { rmdir(file) }
    rmdir("\(directory)/instances.d")
    rmdir("\(main).d")
    rmdir(directory)
  }
}

extension ConfigurationLoader.Loaded {
  /// The mistakes as text, without the paths of their files.
  var lines: [String] {
    mistakes.map { mistake in
      "\(mistake.line.map(String.init) ?? "-"): \(mistake.key ?? "-"): \(mistake.message)"
    }
  }

  /// The lines and keys of the mistakes.
  var places: [String] { mistakes.map { "\($0.line ?? 0) \($0.key ?? "-")" } }
}
