import Glibc
import JSONRPC
import SDKProtocol
import StateStore

/// `sdkd --restore`: puts a copy in the place of the state while no daemon runs; `sdkctl restore` calls it.
enum Restoration {
  /// - Parameter what: a copy's name, the path of a file, nothing for the newest good copy.
  /// - Returns: 0, with what was done as JSON on standard output; 75 while a daemon has the state; 1.
  static func run(_ paths: DaemonPaths, _ what: String, beginsAnew: Bool) -> Int32 {
    guard let state = realpath(paths.state, nil) else {
      StandardError.write("sdkd: There is no state in \(paths.state): \(String(cString: strerror(errno))).")
      return 1
    }
    defer { free(state) }
    do throws(StoreOpenError) {
      let done: StateRestoration
      if what.contains("/") {
        let file = open(what, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .noCopy("\(what) can't be read: \(String(cString: strerror(errno))).") }
        defer { close(file) }
        done = try StateRestoration.run(directory: String(cString: state), from: .file(descriptor: file, name: what))
      } else {
        done = try StateRestoration.run(
          directory: String(cString: state), from: beginsAnew ? .nothing : what.isEmpty ? .newest : .copy(what))
      }
      print(JSONWriter.text(of: json(done)))
      return 0
    } catch {
      if case .stateInUse = error {
        StandardError.write("sdkd: The state in \(paths.state) is in use: stop the daemon first.")
        return 75
      }
      StandardError.write("sdkd: \(error.sdkError.message)")
      return 1
    }
  }

  private static func json(_ done: StateRestoration) -> JSON {
    var object = JSONObject()
    object["restored"] = done.restored.map(JSON.string)
    object["copiedAt"] = done.copiedAt.map { .string($0.description) }
    if !done.damaged.isEmpty { object["damaged"] = .array(done.damaged.map(JSON.string)) }
    object["setAside"] = done.setAside.map(JSON.string)
    return .object(object)
  }
}
