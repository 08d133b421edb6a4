import Glibc
import JSONRPC
import Linux
import SDKProtocol
import StateStore

/// `sdkd --restore`: replaces the state with a backup while no daemon runs. `sdkctl restore` calls it.
enum Restoration {
  /// - Parameter what: the name of a backup, the path of a file, or empty for the newest good backup.
  /// - Returns: 0, with a report as JSON on standard output; 75 while a daemon holds the state; 1 on failure.
  static func run(_ paths: DaemonPaths, _ what: String, beginsAnew: Bool) -> Int32 {
    var state: ConfinedState?
    do throws(StoreOpenError) {
      // A file given by its path is opened with the rights of the caller.
      let file = what.contains("/") ? open(what, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1
      defer { if file >= 0 { close(file) } }
      guard file >= 0 || !what.contains("/") else {
        throw .noCopy("\(what) can't be read: \(SystemCallError.text(of: errno)).")
      }
      state = try ConfinedState(paths.state)
      guard let state else {
        throw .noCopy("There is no state in \(paths.state): \(SystemCallError.text(of: errno)).")
      }
      let source: StateRestoration.Source =
        file >= 0
        ? .file(descriptor: file, name: what) : beginsAnew ? .nothing : what.isEmpty ? .newest : .copy(what)
      let done = try StateRestoration.run(directory: state.path, from: source)
      print(state.shown(JSONWriter.text(of: json(done))))
      return 0
    } catch {
      if case .stateInUse = error {
        StandardError.write("sdkd: The state in \(paths.state) is in use: stop the daemon first.")
        return 75
      }
      let message = error.sdkError.message
      StandardError.write("sdkd: \(state?.shown(message) ?? message)")
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
