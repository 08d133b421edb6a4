import Foundation

/// A directory that is removed in `deinit`.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "sdkd-store-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a state directory inside, which is not created yet.
  var state: String { path + "/state" }
  var database: String { state + "/state.db" }

  /// Returns the contents of all files of the state, by path relative to `state`. One that is deleted meanwhile is none.
  func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: state) {
      var isDirectory: ObjCBool = false
      let path = state + "/" + name
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue else {
        continue
      }
      do { files[name] = try Data(contentsOf: URL(fileURLWithPath: path)) } catch CocoaError.fileReadNoSuchFile {}
    }
    return files
  }

  /// Returns the sorted names of the files that contain these bytes.
  func filesContaining(_ bytes: Data) throws -> [String] {
    try files().filter { $0.value.range(of: bytes) != nil }.keys.sorted()
  }

  func permissions(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }
}
