import Foundation

/// A directory that is gone when its owner is.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "sdkd-store-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// A state directory in it, not made yet.
  var state: String { path + "/state" }
  var database: String { state + "/state.db" }

  /// All files of the state with what is in them.
  func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: state) {
      var isDirectory: ObjCBool = false
      let path = state + "/" + name
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue else {
        continue
      }
      files[name] = try Data(contentsOf: URL(fileURLWithPath: path))
    }
    return files
  }

  /// The names of the files that hold these bytes.
  func filesContaining(_ bytes: Data) throws -> [String] {
    try files().filter { $0.value.range(of: bytes) != nil }.keys.sorted()
  }

  func permissions(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }
}
