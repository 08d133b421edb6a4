import Glibc
import Linux
import OpenMetrics

/// The kernel's statistics of this process. Values that can't be read are omitted.
enum ProcessReading {
  static var samples: [MetricSample] {
    var samples: [MetricSample] = []
    func add(_ family: MetricFamily, _ value: Double?) {
      if let value { samples.append(MetricSample(family, is: value)) }
    }
    add(.cpu, processorTime)
    add(.resident, residentBytes)
    add(.startTime, startTime)
    add(.openFiles, openFiles)
    add(.mostFiles, mostFiles)
    return samples
  }

  /// The processor time of all threads in seconds. `nil` if it can't be read.
  static var processorTime: Double? {
    var usage = rusage()
    guard getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return nil }
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }

  /// The resident memory in bytes. `nil` if it can't be read.
  private static var residentBytes: Double? { memory?.resident }

  /// The resident memory in bytes without pages of files, such as those of the program. `nil` if it can't be read.
  static var anonymousBytes: Double? { memory.map { $0.resident - $0.ofFiles } }

  /// The second and third field of `/proc/self/statm`, which are in pages.
  private static var memory: (resident: Double, ofFiles: Double)? {
    let fields = text(of: "/proc/self/statm")?.split(separator: " ").dropFirst().prefix(2).compactMap { Double($0) }
    guard let fields, fields.count == 2 else { return nil }
    let page = Double(max(1, sysconf(Int32(_SC_PAGESIZE))))
    return (fields[0] * page, fields[1] * page)
  }

  /// The start time in seconds since 1970, from the 22nd field of `/proc/self/stat`, which is in clock ticks since
  /// boot. Fields are counted after the name in parentheses, which may contain spaces.
  private static let startTime: Double? = {
    guard let text = text(of: "/proc/self/stat"), let end = text.lastIndex(of: ")"),
      let ticks = Double(text[end...].split(separator: " ").dropFirst(20).first ?? "")
    else { return nil }
    let boottime: clockid_t = 7
    var (wall, boot) = (timespec(), timespec())
    guard clock_gettime(CLOCK_REALTIME, &wall) == 0, clock_gettime(boottime, &boot) == 0 else { return nil }
    func seconds(_ time: timespec) -> Double { Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 }
    return seconds(wall) - seconds(boot) + ticks / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
  }()

  private static var openFiles: Double? {
    guard let directory = opendir("/proc/self/fd") else { return nil }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    // Without ".", ".." and the descriptor that reads the directory.
    return Double(max(0, count - 3))
  }

  private static var mostFiles: Double? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
    return limit.rlim_cur == rlim_t.max ? .infinity : Double(limit.rlim_cur)
  }

  private static func text(of path: String) -> String? { BoundedFile.text(at: path, limit: 2048) }
}
