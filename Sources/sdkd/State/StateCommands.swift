import CLinux
import Glibc
import JSONRPC
import Linux
import SDKProtocol
import StateStore

/// `sdkd --restore`: replaces the state with a backup while no daemon runs. `sdkctl restore` calls it.
enum Restoration {
  /// Restores a backup and prints the result.
  ///
  /// - Parameter what: the name of a backup, the path of a file, or empty for the newest good backup.
  /// - Returns: 0, with a report as JSON on standard output; 75 while a daemon holds the state; 1 on failure.
  static func run(_ paths: DaemonPaths, _ what: String, beginsAnew: Bool) -> Int32 {
    var state: ConfinedState?
    do throws(StoreOpenError) {
      // A file given by its path is opened with the rights of the caller.
      let file = try what.contains("/") ? DatabaseSource.opened(at: what) : nil
      state = try ConfinedState(paths.state)
      guard let state else {
        throw .noBackup("There is no state in \(paths.state): \(SystemCallError.text(of: errno)).")
      }
      let source: StateRestoration.Source =
        file.map(StateRestoration.Source.file) ?? (beginsAnew ? .nothing : what.isEmpty ? .newest : .named(what))
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
    add("wiped", done.losses.wiped, to: &object)
    add("deleted", done.losses.deleted, to: &object)
    if done.areRemovalsLost { object["warning"] = .string(StateRestoration.lostRemovals) }
    return .object(object)
  }

  /// Adds the first ids of instances, and the number of further ones.
  private static func add(_ name: String, _ instances: BackupLosses.Instances, to object: inout JSONObject) {
    guard instances.count > 0 else { return }
    object[name] = .array(instances.ids.map { JSON.string($0.name) })
    if instances.count > instances.ids.count { object["\(name)More"] = JSON(instances.count - instances.ids.count) }
  }
}

/// `sdkd --inspect-key`: reports whether the key on standard input, or `root.key`, opens the state. `sdkctl key` and
/// `sdkctl doctor` call it. Standard input may be empty.
enum KeyInspection {
  /// Tries both keys on the state and prints the result.
  ///
  /// - Returns: 0, with the result as JSON on standard output; 1 on failure.
  static func run(_ paths: DaemonPaths) -> Int32 {
    var bytes = [UInt8](repeating: 0, count: RootKey.byteCount + 1)
    let count = read(STDIN_FILENO, &bytes, bytes.count)
    let key = count > 0 ? RootKey(bytes: Array(bytes.prefix(count))) : nil
    bytes.withUnsafeMutableBytes { cl_erase($0.baseAddress, $0.count) }
    var state: ConfinedState?
    do throws(StoreOpenError) {
      state = try ConfinedState(paths.state)
      guard let state else {
        if errno == ENOENT { return answer([:]) }
        throw .unwritable("\(paths.state): \(SystemCallError.text(of: errno))")
      }
      let check = try StateKeyCheck(directory: state.path, key: key)
      return answer(["sealed": .bool(check.isSealed), "file": .bool(check.fileOpens), "key": .bool(check.keyOpens)])
    } catch {
      let message = error.sdkError.message
      StandardError.write("sdkd: \(state?.shown(message) ?? message)")
      return 1
    }
  }

  private static func answer(_ object: JSONObject) -> Int32 {
    print(JSONWriter.text(of: .object(object)))
    return 0
  }
}
