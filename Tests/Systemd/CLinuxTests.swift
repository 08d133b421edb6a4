import CLinux
import Glibc
import Linux
import Testing

@testable import Systemd

@Suite struct CLinuxTests {
  /// Returns the two ends of a connection within this process.
  private func connection() throws -> (client: Int32, server: Int32) {
    let directory = try TemporaryDirectory()
    let address = try #require(UnixAddress(path: directory.file("s")))
    let listener = UnixAddress.makeSocket()
    let client = UnixAddress.makeSocket()
    defer { close(listener) }
    #expect(address.withPointer { bind(listener, $0, $1) } == 0)
    #expect(listen(listener, 1) == 0)
    #expect(address.withPointer { connect(client, $0, $1) } == 0)
    return (client, accept(listener, nil, nil))
  }

  @Test func peerOfAConnection() throws {
    let (client, server) = try connection()
    defer { for end in [client, server] { close(end) } }
    var (pid, uid, gid): (pid_t, uid_t, gid_t) = (0, 0, 0)
    #expect(cl_peer_credentials(server, &pid, &uid, &gid) == 0)
    #expect(pid == getpid() && uid == geteuid() && gid == getegid())

    var count = 0
    let status = cl_peer_groups(server, nil, &count)
    #expect(status == 0 || status == -ERANGE)
    #expect(count == Int(getgroups(0, nil)))
    var groups = [gid_t](repeating: 0, count: count + 1)
    count = groups.count
    #expect(cl_peer_groups(server, &groups, &count) == 0)
    #expect(count == groups.count - 1)

    let pidfd = cl_peer_pidfd(server)
    #expect(pidfd >= 0 || pidfd == -ENOPROTOOPT, "kernels before 6.5 have none")
    if pidfd >= 0 {
      #expect(cl_pidfd_send_signal(pidfd, 0) == 0)
      close(pidfd)
    }
  }

  @Test func noPeer() throws {
    var (pid, uid, gid): (pid_t, uid_t, gid_t) = (7, 7, 7)
    var count = 0
    let unconnected = UnixAddress.makeSocket()
    let internet = socket(AF_INET, 1, 0)
    defer { for end in [unconnected, internet] { close(end) } }
    #expect(cl_peer_credentials(unconnected, &pid, &uid, &gid) == -ENOTCONN)
    #expect(cl_peer_credentials(internet, &pid, &uid, &gid) == -EAFNOSUPPORT)
    #expect(cl_peer_groups(internet, nil, &count) == -EAFNOSUPPORT)
    #expect(cl_peer_pidfd(internet) == -EAFNOSUPPORT)
    #expect(cl_peer_credentials(-1, &pid, &uid, &gid) == -EBADF)
    #expect(pid == 7 && uid == 7 && gid == 7)
  }

  @Test func descriptors() throws {
    let directory = try TemporaryDirectory()
    try directory.write([], to: "lock")
    let first = open(directory.file("lock"), O_RDWR)
    let second = open(directory.file("lock"), O_RDWR)
    defer { for file in [first, second] { close(file) } }
    #expect(cl_flock_exclusive_nonblocking(first) == 0)
    #expect(cl_flock_exclusive_nonblocking(second) == -EWOULDBLOCK)
    #expect(cl_set_cloexec(first) == 0 && fcntl(first, F_GETFD) & FD_CLOEXEC != 0)
    #expect(cl_set_nonblocking(first, 1) == 0 && fcntl(first, F_GETFL) & O_NONBLOCK != 0)
    #expect(cl_set_nonblocking(first, 0) == 0 && fcntl(first, F_GETFL) & O_NONBLOCK == 0)
    #expect(cl_set_cloexec(-1) == -EBADF)

    var type: UInt = 0
    #expect(cl_statfs_type(first, &type) == 0 && type != 0)
    let proc = open("/proc", O_RDONLY | O_CLOEXEC)
    defer { close(proc) }
    #expect(cl_statfs_type(proc, &type) == 0 && type == 0x9FA0)
  }

  @Test func processAttributes() async {
    await #expect(processExitsWith: .success) {
      #expect(cl_set_dumpable(0) == 0 && cl_get_dumpable() == 0)
      #expect(cl_set_dumpable(1) == 0 && cl_get_dumpable() == 1)
      #expect(cl_set_child_subreaper() == 0)
    }
  }

  @Test func signalsNeverMeanEverybody() {
    for group in [0, 1, -1, pid_t.min] { #expect(cl_kill_group(group, 0) == -EINVAL) }
    #expect(cl_kill_group(pid_t.max, 0) == -ESRCH)
    #expect(cl_pidfd_open(-1) == -EINVAL)
    #expect(cl_pidfd_open(pid_t.max) == -ESRCH)
    #expect(cl_pidfd_send_signal(-1, 0) == -EBADF)
  }

  @Test func secretPage() throws {
    var page: UnsafeMutableRawPointer?
    let status = cl_mlock_secret_page(4096, &page)
    #expect(status >= 0, "positive where the system does not lock it")
    let start: UnsafeMutableRawPointer = try #require(page)
    let memory = UnsafeMutableRawBufferPointer(start: start, count: 4096)
    #expect(memory.allSatisfy { $0 == 0 })
    memory.copyBytes(from: Array("key".utf8))
    cl_erase(memory.baseAddress, 2)
    #expect(memory.prefix(3).elementsEqual([0, 0, UInt8(ascii: "y")]))
    #expect(cl_erase_secret_page(page, 4096) == 0)
    #expect(cl_erase_secret_page(nil, 4096) == 0)
    #expect(cl_mlock_secret_page(0, &page) == -EINVAL && page == nil)
  }

  @Test("There is swap space if /proc/swaps has more than its header")
  func swap() throws {
    let lines = try #require(BoundedFile.text(at: "/proc/swaps", limit: 64 << 10)).split(separator: "\n")
    #expect(cl_has_swap() == (lines.count > 1 ? 1 : 0))
  }

  @Test func timers() {
    let timer = cl_timerfd_realtime_create()
    defer { close(timer) }
    #expect(cl_timerfd_read(timer) == -EAGAIN)
    let armed = cl_timerfd_set_realtime(timer, 0, 0)
    #expect(armed == 0 || armed == -ECANCELED)
    var ready = pollfd(fd: timer, events: Int16(POLLIN), revents: 0)
    #expect(poll(&ready, 1, 10_000) == 1)
    let read = cl_timerfd_read(timer)
    #expect(read == 0 || read == -ECANCELED, "another test may set the clock")
    #expect(cl_timerfd_set_realtime(timer, 0, 1_000_000_000) == -EINVAL)
  }
}
