import Glibc
import Linux

/// The kernel's process table, as far as `/proc` shows it.
struct ProcessTable: Sendable {
  /// Returns the text of a file in `/proc`; `nil` if it can't be read.
  var read: @Sendable (_ path: String) -> String? = { BoundedFile.text(at: $0, limit: ProcessTable.maximumBytes) }

  /// Returns the names in a directory of `/proc` that begin with a digit.
  var numbers: @Sendable (_ directory: String) -> [String] = { ProcessTable.numbers(in: $0) }

  /// The number of bytes that are read of a file in `/proc`. A program starts with an environment of at most 6 MiB.
  private static let maximumBytes = 8 << 20

  /// Returns the process with a pid; `nil` when there is none.
  func entry(of pid: pid_t) -> ProcessEntry? {
    read("/proc/\(pid)/stat").flatMap { ProcessEntry(stat: $0) }
  }

  /// The children of this process, including zombies.
  ///
  /// The number of files that are read is the number of the children and of this process's threads. On kernels without
  /// lists of children it is the number of the machine's processes.
  var children: [ProcessEntry] {
    let own = getpid()
    let listed = childrenByThread ?? numbers("/proc").compactMap { pid_t($0) }
    return listed.compactMap { entry(of: $0) }.filter { $0.parent == own }
  }

  /// The children according to kernels with `CONFIG_PROC_CHILDREN`, which have a list per thread; `nil` on other
  /// kernels.
  private var childrenByThread: [pid_t]? {
    guard read("/proc/thread-self/children") != nil else { return nil }
    return numbers("/proc/self/task").flatMap { thread in
      (read("/proc/self/task/\(thread)/children") ?? "").split(separator: " ").compactMap { pid_t($0) }
    }
  }

  /// Returns a variable of the environment that a process was started with; `nil` if it is unset or can't be read.
  func variable(_ name: String, of pid: pid_t) -> String? {
    read("/proc/\(pid)/environ")?.split(separator: "\0").first { $0.hasPrefix("\(name)=") }
      .map { String($0.dropFirst(name.utf8.count + 1)) }
  }

  private static func numbers(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.first?.isNumber == true { names.append(name) }
    }
    return names
  }
}
