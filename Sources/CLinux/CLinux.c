#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

// The headers of Debian 12 are older than some kernels that the daemon runs on.
#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef SCHED_FLAG_RESET_ON_FORK
#define SCHED_FLAG_RESET_ON_FORK 1
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

static int result(long value) { return value < 0 ? -errno : (int)value; }

static int require_unix_socket(int fd) {
  int domain = 0;
  socklen_t length = sizeof(domain);
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) < 0) return -errno;
  return domain == AF_UNIX ? 0 : -EAFNOSUPPORT;
}

int cl_peer_credentials(int fd, pid_t *pid, uid_t *uid, gid_t *gid) {
  int checked = require_unix_socket(fd);
  if (checked < 0) return checked;
  struct ucred credentials;
  memset(&credentials, 0, sizeof(credentials));
  socklen_t length = sizeof(credentials);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return -errno;
  if (length != sizeof(credentials)) return -EPROTO;
  if (credentials.uid == (uid_t)-1 || credentials.gid == (gid_t)-1) return -ENOTCONN;
  *pid = credentials.pid;
  *uid = credentials.uid;
  *gid = credentials.gid;
  return 0;
}

// The next change of what `epoll` watches: 1, or 0 after the time.
static int next_change(int epoll, int milliseconds) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int64_t end = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + milliseconds;
  while (1) {
    struct epoll_event event;
    int count = epoll_wait(epoll, &event, 1, milliseconds);
    if (count >= 0 || errno != EINTR) return result(count);
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t left = end - (int64_t)now.tv_sec * 1000 - now.tv_nsec / 1000000;
    milliseconds = left > 0 ? (int)left : 0;
  }
}

int cl_end_and_await_peer(int fd, int stop, int milliseconds) {
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLET};
  int status = epoll < 0 ? -errno : result(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
  // Before this side ends, only the peer's end hangs up.
  if (status == 0) status = next_change(epoll, 0);
  shutdown(fd, SHUT_RDWR);
  // Afterwards poll always reports a hang-up. An edge-triggered epoll reports it again when the peer closes.
  if (status == 0 && next_change(epoll, 0) >= 0) {
    struct epoll_event end = {.events = EPOLLIN};
    status = result(epoll_ctl(epoll, EPOLL_CTL_ADD, stop, &end));
    if (status == 0) status = next_change(epoll, milliseconds);
  }
  if (epoll >= 0) close(epoll);
  return status;
}

int cl_peer_groups(int fd, gid_t *groups, size_t *count) {
  int checked = require_unix_socket(fd);
  if (checked < 0) return checked;
  // NGROUPS_MAX is 65536: more room than that only makes the length overflow.
  size_t room = groups == NULL ? 0 : *count;
  if (room > 65536) room = 65536;
  socklen_t length = (socklen_t)(room * sizeof(gid_t));
  gid_t none;
  int status = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups == NULL ? &none : groups, &length);
  if (status < 0 && errno != ERANGE) return -errno;
  *count = length / sizeof(gid_t);
  return status < 0 ? -ERANGE : 0;
}

int cl_peer_pidfd(int fd) {
  int checked = require_unix_socket(fd);
  if (checked < 0) return checked;
  int pidfd = -1;
  socklen_t length = sizeof(pidfd);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) < 0) return -errno;
  return pidfd < 0 ? -ESRCH : pidfd;
}

int cl_socket_pair(int ends[2]) {
  return result(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends));
}

// The buffer of one message's descriptors.
union descriptor_control {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(CL_MOST_DESCRIPTORS * sizeof(int))];
};

int cl_send_descriptors(int socket, const int *descriptors, size_t count) {
  if (count > CL_MOST_DESCRIPTORS) return -EINVAL;
  union descriptor_control control;
  memset(&control, 0, sizeof(control));
  char byte = 0;
  struct iovec data = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
  if (count > 0) {
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(&control.header), descriptors, count * sizeof(int));
  }
  long sent;
  do sent = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? -errno : 0;
}

int cl_receive_descriptors(int socket, int *descriptors) {
  union descriptor_control control;
  char byte;
  struct iovec data = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
  long received;
  do received = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  while (received < 0 && errno == EINTR);
  if (received == 0 || (received < 0 && errno == EAGAIN)) return -ENODATA;
  if (received < 0) return -errno;
  int count = 0;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t length = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    if (length > (size_t)(CL_MOST_DESCRIPTORS - count)) length = (size_t)(CL_MOST_DESCRIPTORS - count);
    memcpy(descriptors + count, CMSG_DATA(header), length * sizeof(int));
    count += (int)length;
  }
  if ((message.msg_flags & MSG_CTRUNC) == 0) return count;
  while (count > 0) close(descriptors[--count]);
  return -EMSGSIZE;
}

int cl_memory_file(const char *name) { return result(memfd_create(name, MFD_CLOEXEC)); }

int cl_set_dumpable(int dumpable) { return result(prctl(PR_SET_DUMPABLE, dumpable ? 1UL : 0UL, 0UL, 0UL, 0UL)); }

int cl_get_dumpable(void) { return result(prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL)); }

int cl_confine(int directory, uid_t user, gid_t group) {
  if (user == 0 || user == (uid_t)-1 || group == (gid_t)-1) return -EINVAL;
  // Fails for the leader of a process group, which keeps its terminal.
  setsid();
  if (fchdir(directory) < 0 || chroot(".") < 0 || chdir("/") < 0) return -errno;
  if (setgroups(0, NULL) < 0 || setresgid(group, group, group) < 0 || setresuid(user, user, user) < 0) return -errno;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) < 0 || prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL) < 0) return -errno;
  return setresuid(0, 0, 0) == 0 ? -EPERM : 0;
}

int cl_set_child_subreaper(void) { return result(prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL)); }

int cl_name_thread(const char *name) { return result(prctl(PR_SET_NAME, name, 0UL, 0UL, 0UL)); }

int cl_set_thread_nice(int nice) {
  // The kernel's first version of struct sched_attr, which newer C libraries declare and older ones do not.
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes = {.size = sizeof(attributes), .policy = SCHED_OTHER, .flags = SCHED_FLAG_RESET_ON_FORK, .nice = nice};
  return result(syscall(SYS_sched_setattr, 0, &attributes, 0U));
}

int cl_unix_datagram_create(void) { return result(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)); }

int cl_eventfd_create(void) { return result(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

int cl_set_cloexec(int fd) {
  int flags = fcntl(fd, F_GETFD);
  if (flags < 0) return -errno;
  return result(fcntl(fd, F_SETFD, flags | FD_CLOEXEC));
}

int cl_set_nonblocking(int fd, int nonblocking) {
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0) return -errno;
  return result(fcntl(fd, F_SETFL, nonblocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK));
}

int cl_flock_exclusive_nonblocking(int fd) {
  int status;
  do status = flock(fd, LOCK_EX | LOCK_NB);
  while (status < 0 && errno == EINTR);
  return result(status);
}

int cl_funlock(int fd) { return result(flock(fd, LOCK_UN)); }

int cl_statfs_type(int fd, unsigned long *type) {
  struct statfs information;
  int status;
  do status = fstatfs(fd, &information);
  while (status < 0 && errno == EINTR);
  if (status < 0) return -errno;
  // Some magic numbers have the top bit of 32 set, and f_type is signed.
  *type = (unsigned long)(uint32_t)information.f_type;
  return 0;
}

int cl_pidfd_open(pid_t pid) { return result(syscall(SYS_pidfd_open, pid, 0U)); }

int cl_pidfd_send_signal(int pidfd, int signal) {
  return result(syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0U));
}

int cl_kill_group(pid_t group, int signal) {
  if (group <= 1) return -EINVAL;
  return result(kill(-group, signal));
}

static sigset_t mask_at_start, ignored_at_start;

/// Notes the signals before any code changes them.
__attribute__((constructor)) static void note_signals(void) {
  sigprocmask(SIG_SETMASK, NULL, &mask_at_start);
  sigemptyset(&ignored_at_start);
  for (int number = 1; number < NSIG; number++) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN) sigaddset(&ignored_at_start, number);
  }
}

int cl_spawn(
    const char *program, char *const argv[], char *const envp[], const int streams[3], int as_started, int new_session
) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0) return -error;
  error = posix_spawnattr_init(&attributes);
  if (error != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return -error;
  }
  // Equal numbers are fine: the action then removes FD_CLOEXEC.
  for (int number = 0; number < 3 && error == 0; number++)
    error = posix_spawn_file_actions_adddup2(&actions, streams[number], number);
  if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  sigset_t mask, defaults;
  sigemptyset(&mask);
  sigfillset(&defaults);
  if (as_started) {
    mask = mask_at_start;
    for (int number = 1; number < NSIG; number++)
      if (sigismember(&ignored_at_start, number) == 1) sigdelset(&defaults, number);
  }
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (new_session ? POSIX_SPAWN_SETSID : 0));
  pid_t pid = -1;
  if (error == 0) error = posix_spawnp(&pid, program, &actions, &attributes, argv, envp == NULL ? environ : envp);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error != 0 ? -error : pid;
}

static int contains(const int *numbers, size_t count, int number) {
  for (size_t index = 0; index < count; index++)
    if (numbers[index] == number) return 1;
  return 0;
}

int cl_become(
    const char *program, char *const argv[], char *const envp[], const int *ignored, size_t count) {
  struct sigaction before[NSIG];
  sigset_t changed, mask;
  sigemptyset(&changed);
  for (int number = 1; number < NSIG; number++) {
    if (sigaction(number, NULL, &before[number]) < 0) continue;
    int ignore = contains(ignored, count, number) || sigismember(&ignored_at_start, number) == 1;
    // Handlers become the default by themselves.
    if (ignore == (before[number].sa_handler == SIG_IGN)) continue;
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = ignore ? SIG_IGN : SIG_DFL;
    if (sigaction(number, &action, NULL) == 0) sigaddset(&changed, number);
  }
  pthread_sigmask(SIG_SETMASK, &mask_at_start, &mask);
  execvpe(program, argv, envp == NULL ? environ : envp);
  int error = errno;
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  for (int number = 1; number < NSIG; number++)
    if (sigismember(&changed, number) == 1) sigaction(number, &before[number], NULL);
  return -error;
}

int cl_timerfd_realtime_create(void) { return result(timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK)); }

int cl_timerfd_set_realtime(int fd, int64_t seconds, int64_t nanoseconds) {
  if (nanoseconds < 0 || nanoseconds >= 1000000000) return -EINVAL;
  // All zero means "disarm" to the kernel, and before 1970 means an error: both are simply past.
  if (seconds < 0 || (seconds == 0 && nanoseconds == 0)) {
    seconds = 0;
    nanoseconds = 1;
  }
  struct itimerspec when;
  memset(&when, 0, sizeof(when));
  when.it_value.tv_sec = (time_t)seconds;
  when.it_value.tv_nsec = (long)nanoseconds;
  return result(timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, NULL));
}

int cl_timerfd_read(int fd) {
  uint64_t expirations = 0;
  ssize_t count;
  do count = read(fd, &expirations, sizeof(expirations));
  while (count < 0 && errno == EINTR);
  if (count < 0) return -errno;
  return count == (ssize_t)sizeof(expirations) ? 0 : -EIO;
}

int cl_mlock_secret_page(size_t size, void **page) {
  *page = NULL;
  if (size == 0) return -EINVAL;
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return -errno;
  if (madvise(memory, size, MADV_DONTDUMP) < 0 || madvise(memory, size, MADV_WIPEONFORK) < 0) {
    int error = errno;
    munmap(memory, size);
    return -error;
  }
  *page = memory;
  if (mlock(memory, size) == 0) return 0;
  int error = errno;
  struct rlimit limit;
  // The kernel's error for a limit of nothing is EPERM, as that of a filter of system calls.
  int is_zero = getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == 0;
  return is_zero ? ENOMEM : error;
}

int cl_erase_secret_page(void *page, size_t size) {
  if (page == NULL) return 0;
  explicit_bzero(page, size);
  return result(munmap(page, size));
}

int cl_has_swap(void) {
  struct sysinfo info;
  if (sysinfo(&info) < 0) return -errno;
  return info.totalswap > 0 ? 1 : 0;
}

void cl_erase(void *bytes, size_t size) {
  if (bytes != NULL && size > 0) explicit_bzero(bytes, size);
}

int cl_trim_heap(void) {
#ifdef __GLIBC__
  return malloc_trim(0);
#else
  return 0;
#endif
}

void cl_map_allocations_from(int size) { mallopt(M_MMAP_THRESHOLD, size); }
