import ArgumentParser
import Glibc
import Linux

// Words that are read from this machine's files, and not from a directory of users, which can be slow.

extension CompletionSource {
  /// The maximum size of a file with users or groups, and the maximum number of names of a folder.
  private static let limits = (bytes: 1 << 20, names: 20_000)
  /// The ids that people and their groups have, in contrast to services (`login.defs`).
  private static let people = 1000..<60_000
  private static let unitFolders = ["/etc/systemd/system", "/usr/local/lib/systemd/system"]

  /// Access rules: people and their groups; after `user:`, `group:` or `unit:`, all names of this sort.
  static let rules = asking { line in
    // The conditions of a rule are joined by plus signs.
    let former = line.current.lastIndex(of: "+").map { line.current[...$0] } ?? ""
    let typed = line.current.dropFirst(former.count)
    func rules(_ sort: String, _ names: [String]) -> [String] { names.map { "\(former)\(sort):\($0)" } }
    switch typed.prefix(while: { $0 != ":" }) {
    case "user" where typed.contains(":"): return rules("user", names(in: "/etc/passwd"))
    case "group" where typed.contains(":"): return rules("group", names(in: "/etc/group"))
    case "unit" where typed.contains(":"): return rules("unit", unitFolders.flatMap { names(of: $0, ".service") })
    default:
      return rules("user", names(in: "/etc/passwd", people)) + rules("group", names(in: "/etc/group", people))
    }
  }

  /// The names of units that run token providers.
  static let providerUnits = asking { _ in
    let prefix = "sdkd-provider-"
    return unitFolders.flatMap { names(of: $0, ".socket") }.filter { $0.hasPrefix(prefix) }
      .map { String($0.dropFirst(prefix.count).dropLast(".socket".count)) }
  }

  /// The tenants whose sockets exist.
  static let tenants = asking { _ in
    names(of: "/run/sdkd-tenants", ".sock").map { String($0.dropLast(".sock".count)) }
  }

  /// The words of another program's command line: programs of `PATH` for the first one, and files.
  static let programs = asking { line in
    let typed = line.current
    guard line.words.prefix(line.index).last == "--", !typed.contains("/") else { return files(typed) }
    let folders = (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":").prefix(64)
    let found = folders.flatMap { folder in
      names(of: String(folder), "").filter { $0.hasPrefix(typed) && access("\(folder)/\($0)", X_OK) == 0 }
    }
    return Set(found).sorted()
  }

  /// Returns the paths that begin with a text. Those of folders end with a slash.
  private static func files(_ typed: String) -> [String] {
    let folder = typed.lastIndex(of: "/").map { String(typed[...$0]) } ?? ""
    return names(of: folder.isEmpty ? "." : folder, "").map { folder + $0 }.filter { $0.hasPrefix(typed) }.map { path in
      var status = stat()
      return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR ? "\(path)/" : path
    }
  }

  /// Returns the sorted names of a folder with an ending, without hidden ones.
  private static func names(of folder: String, _ ending: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var found: [String] = []
    while found.count < limits.names, let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasSuffix(ending), !name.hasPrefix(".") { found.append(name) }
    }
    return found.sorted()
  }

  /// Returns the names in a file such as `/etc/passwd`.
  ///
  /// - Parameter ids: the ids of those that are wanted; all if `nil`.
  private static func names(in path: String, _ ids: Range<Int>? = nil) -> [String] {
    let lines = (BoundedFile.text(at: path, limit: limits.bytes) ?? "").split(separator: "\n")
    return lines.compactMap { line in
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      guard fields.count > 2 else { return nil }
      if let ids, !ids.contains(Int(fields[2]) ?? -1) { return nil }
      return String(fields[0])
    }
  }
}
