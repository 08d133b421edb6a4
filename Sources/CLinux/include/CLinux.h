// What Linux offers and Swift's Glibc module hides: behind _GNU_SOURCE, newer than the C library, or variadic.
//
// Every function answers 0 (or a descriptor, where it says so) on success and -errno on failure. None of them
// aborts, prints or sets errno for the caller. Descriptors they make have O_CLOEXEC.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma clang assume_nonnull begin

// MARK: Peers of a unix socket

/// Credentials of the process that connected, as they were when it did (SO_PEERCRED).
/// -EAFNOSUPPORT if `fd` is no unix socket, where the kernel would answer with made-up values;
/// -ENOTCONN if nobody is connected. `pid` is 0 for a peer of another pid namespace.
int cl_peer_credentials(int fd, pid_t *pid, uid_t *uid, gid_t *gid);

/// Supplementary groups of the peer (SO_PEERGROUPS). `*count` is the room in `groups` and becomes the number
/// of groups. -ERANGE: too little room, `*count` says how many there are: grow and ask again.
int cl_peer_groups(int fd, gid_t *_Nullable groups, size_t *count);

/// A new pidfd of the peer (SO_PEERPIDFD), or -errno: -ENOPROTOOPT from kernels before 6.5,
/// -ESRCH or -EINVAL from some when the peer is gone already.
int cl_peer_pidfd(int fd);

/// Ends both directions of a connected unix stream socket, and waits until the peer closes its end, as it does when it
/// ends, or until `stop` is readable. 1: one of both; 0: neither within the time.
int cl_end_and_await_peer(int fd, int stop, int milliseconds);

// MARK: Descriptors in messages

/// A connected pair of unix sockets that keep the bounds of messages, both non-blocking.
int cl_socket_pair(int ends[_Nonnull 2]);

/// The largest number of descriptors in one message (SCM_MAX_FD).
#define CL_MOST_DESCRIPTORS 253

/// Sends a message with duplicates of `count` descriptors. Never blocks: -EAGAIN if the socket's buffer is full,
/// -ETOOMANYREFS if the user has too many descriptors in flight.
int cl_send_descriptors(int socket, const int *descriptors, size_t count);

/// Receives the descriptors of the next message; `descriptors` has room for CL_MOST_DESCRIPTORS. Never blocks.
/// Their number; 0 for a message without any; -ENODATA after the last message; -EMSGSIZE if some did not fit into this
/// process's limit, and the others are closed.
int cl_receive_descriptors(int socket, int *descriptors);

/// A file in memory, which no other process can open by a name.
int cl_memory_file(const char *name);

// MARK: The process itself

/// 0: no core dumps, no ptrace by the same user; 1: as usual (PR_SET_DUMPABLE).
int cl_set_dumpable(int dumpable);

/// 0, 1 or 2 (PR_GET_DUMPABLE), or -errno.
int cl_get_dumpable(void);

/// Orphans below this process become its children rather than those of pid 1 (PR_SET_CHILD_SUBREAPER).
int cl_set_child_subreaper(void);

/// Makes a directory the root of the process and gives up root's rights for good: user, groups, capabilities and terminal.
/// Afterwards the process reaches what is in the directory and what is open, with the rights of `user` alone. -EINVAL for
/// root itself. After a failure the process must end: it may have given up some of it.
int cl_confine(int directory, uid_t user, gid_t group);

/// Names the calling thread, as ps -L and gdb show it; cut at 15 bytes.
int cl_name_thread(const char *name);

/// Gives the calling thread a nice value from -20 to 19 (sched_setattr(2)). Threads and programs that it starts get 0 in
/// place of a negative one. -EPERM: RLIMIT_NICE or a filter of system calls does not allow it.
int cl_set_thread_nice(int nice);

// MARK: Descriptors

/// Marks one descriptor to be closed by exec.
int cl_set_cloexec(int fd);

/// Switches O_NONBLOCK on or off.
int cl_set_nonblocking(int fd, int nonblocking);

/// Takes an exclusive flock without waiting: -EWOULDBLOCK if somebody else holds it.
int cl_flock_exclusive_nonblocking(int fd);

/// Gives a flock back.
int cl_funlock(int fd);

/// The magic number of the file system that holds `fd` (`f_type` of statfs(2), see linux/magic.h).
int cl_statfs_type(int fd, unsigned long *type);

/// A unix datagram socket without a name, or -errno.
int cl_unix_datagram_create(void);

/// A non-blocking eventfd to wake a thread in poll, or -errno.
int cl_eventfd_create(void);

// MARK: Processes

/// A pidfd for `pid`, or -errno.
int cl_pidfd_open(pid_t pid);

/// Sends a signal to the process behind a pidfd; 0 only asks whether it lives.
int cl_pidfd_send_signal(int pidfd, int signal);

/// Sends a signal to a process group. -EINVAL for 0, 1 and negative numbers, which would mean "mine" or "all".
int cl_kill_group(pid_t group, int signal);

// MARK: Programs that this one starts or becomes

/// Starts a program as a child and returns its pid, or -errno. A name without a slash is looked up in PATH.
///
/// The child has the three streams as 0, 1 and 2, and no other descriptor. Its signal mask is empty and no signal is
/// ignored. With `as_started` both are what this process was started with, as a program run by a shell expects:
/// SIGHUP stays ignored below nohup(1). `envp` is NULL for this process's own environment.
int cl_spawn(
    const char *program, char *_Nullable const *_Nonnull argv, char *_Nullable const *_Nullable envp, const int *streams,
    int as_started, int new_session);

/// Replaces this process by a program (exec), with the signal mask and the ignored signals that this process was
/// started with; `ignored` has `count` more signals to ignore. A name without a slash is looked up in PATH. Returns
/// -errno, and only after a failure; the signals are then as before.
int cl_become(
    const char *program, char *_Nullable const *_Nonnull argv, char *_Nullable const *_Nullable envp,
    const int *ignored, size_t count);

// MARK: Timers on the wall clock

/// A non-blocking timerfd on CLOCK_REALTIME, or -errno.
int cl_timerfd_realtime_create(void);

/// Arms the timer for a time since 1970 that may be past, and cancels it when somebody sets the clock.
/// -ECANCELED: it is armed, and the clock was set since the last time it was armed or read.
int cl_timerfd_set_realtime(int fd, int64_t seconds, int64_t nanoseconds);

/// 0: it fired; -EAGAIN: not yet; -ECANCELED: the clock was set. Any other -errno is a failure.
int cl_timerfd_read(int fd);

// MARK: Memory for secrets

/// Maps zeroed memory that is not swapped, not in core dumps and empty in a forked child.
/// 0: as said. A positive error number: mapped, but not locked, so it could be swapped. It is ENOMEM if RLIMIT_MEMLOCK is
/// too low.
/// In both cases `*page` is to be given to cl_erase_secret_page.
int cl_mlock_secret_page(size_t size, void *_Nullable *_Nonnull page);

/// Overwrites, unlocks and unmaps what cl_mlock_secret_page made, with the same size. NULL is ignored.
int cl_erase_secret_page(void *_Nullable page, size_t size);

/// Whether the machine has swap space (sysinfo(2)): 1 or 0. Works also where /proc/swaps is hidden.
int cl_has_swap(void);

// MARK: Memory

/// Takes allocations of at least `size` bytes as pages of their own, which exist once they are written to and go back when
/// they are freed (M_MMAP_THRESHOLD of mallopt(3)). Without it the C library raises that size by itself.
void cl_map_allocations_from(int size);

/// Gives free memory back to the kernel, wherever it lies in the heap (malloc_trim(3)). It holds locks of the allocator
/// for milliseconds. 1: some was given back; 0: none was, or the C library can't.
int cl_trim_heap(void);

/// memset to zero that the optimiser does not remove.
void cl_erase(void *_Nullable bytes, size_t size);

#pragma clang assume_nonnull end

#ifdef __cplusplus
}
#endif
