import CLinux
import Glibc
import JSONRPC
import Linux
import SDKProtocol
import StateStore

/// `sdkd --inspect-key`: reports whether the key on standard input, or `root.key`, opens the state. `sdkctl key` and
/// `sdkctl doctor` call it. Standard input may be empty.
enum KeyInspection {
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
