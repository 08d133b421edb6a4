import Glibc
import Synchronization
import Testing

@testable import DelegateBridge

/// The processes that a sweep finds, and the number of files in `/proc` that it reads for them.
struct SubreaperSweepTests {
  /// A process table in memory that counts the files that are read.
  private final class Processes: Sendable {
    /// The number of threads of this process. The kernel lists the children of each.
    static let threads = 12
    /// The pid of the first child. Real pids are at most 4,194,304.
    static let firstChild: pid_t = 5_000_000

    private let files: [String: String]
    private let pids: [String]
    private let counted = Mutex(0)

    /// - Parameters:
    ///   - children: the start of each child, and the run that its environment names.
    ///   - others: the number of processes that are no children of this one.
    ///   - hasLists: whether the kernel lists the children of each thread.
    init(children: [(start: UInt64, run: String?)], others: Int, hasLists: Bool = true) {
      var files: [String: String] = [:]
      var pids: [String] = []
      func add(_ pid: pid_t, parent: pid_t, start: UInt64, run: String?) {
        pids.append("\(pid)")
        files["/proc/\(pid)/stat"] =
          "\(pid) (sh) S \(parent) \(pid) \(pid) 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 \(start) 99 0"
        files["/proc/\(pid)/environ"] = "PATH=/bin\0" + (run.map { "\(RunningProviders.variable)=\($0)\0" } ?? "")
      }
      for (number, child) in children.enumerated() {
        add(Processes.firstChild + pid_t(number), parent: getpid(), start: child.start, run: child.run)
      }
      if hasLists {
        files["/proc/thread-self/children"] = ""
        for thread in 0..<Processes.threads { files["/proc/self/task/\(thread)/children"] = "" }
        files["/proc/self/task/3/children"] = pids.joined(separator: " ")
      }
      let firstOther = Processes.firstChild + pid_t(children.count)
      for number in 0..<others { add(firstOther + pid_t(number), parent: 1, start: 1, run: nil) }
      self.files = files
      self.pids = pids
    }

    /// Returns the numbers of the children that a sweep ends, and the number of files that it has read.
    func leftovers(_ running: RunningProviders) -> (children: [Int], reads: Int) {
      let table = ProcessTable(
        read: { path in
          self.counted.withLock { $0 += 1 }
          return self.files[path]
        },
        numbers: { directory in directory == "/proc" ? self.pids : (0..<Self.threads).map { "\($0)" } })
      let before = counted.withLock { $0 }
      let found = SubreaperSweep(running: running, table: table).leftovers
      return (found.map { Int($0.pid - Self.firstChild) }, counted.withLock { $0 } - before)
    }
  }

  @Test("A sweep reads as many files among 10,000 processes of others as among 10")
  func others() {
    let running = RunningProviders()
    let tag = running.tag(of: running.begin())
    for others in [10, 10_000] {
      let processes = Processes(children: Array(repeating: (start: .max, run: tag), count: 8), others: others)
      let found = processes.leftovers(running)
      #expect(found.children.isEmpty)
      // One read tells whether the kernel lists the children of a thread. Each list is read, and two files of each child.
      #expect(found.reads == 1 + Processes.threads + 2 * 8)
    }
  }

  @Test("A sweep finds what runs left behind, and reads as many files after 10,000 ended runs as after 10")
  func ended() {
    for count in [10, 10_000] {
      let running = RunningProviders()
      let ended = (0..<count).map { _ in running.begin() }
      let current = running.begin()
      for run in ended { running.end(run) }
      let children: [(start: UInt64, run: String?)] = [
        (start: 1, run: nil), (start: .max, run: running.tag(of: ended[0])),
        (start: .max, run: running.tag(of: current)), (start: .max, run: nil), (start: .max, run: "1-2-3"),
      ]
      let processes = Processes(children: children, others: 10)
      let found = processes.leftovers(running)
      #expect(found.children == [0, 1])
      // The first child is older than each run in progress, so its environment is not read.
      #expect(found.reads == 1 + Processes.threads + 2 * children.count - 1)
      #expect(Processes(children: children, others: 10, hasLists: false).leftovers(running).children == [0, 1])

      running.end(current)
      let last = processes.leftovers(running)
      #expect(last.children == Array(children.indices), "no run is in progress")
      #expect(last.reads == 1 + Processes.threads + children.count)
    }
  }
}
