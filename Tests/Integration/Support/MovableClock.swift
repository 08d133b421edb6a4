import Foundation
import Glibc

/// A wall clock of one daemon's own, moved by the test: a library in front of libc's `clock_gettime` and of timers with
/// an absolute time.
struct MovableClock {
  private let offset: URL
  private let library: URL

  init(in desk: Desk) throws {
    offset = try desk.write("clock", "0")
    library = desk.folder.appendingPathComponent("clock.so")
    let source = try desk.write("clock.c", Self.source)
    let program = try Program(
      "/usr/bin/env", ["clang", "-shared", "-fPIC", "-o", library.path, source.path],
      output: desk.folder.appendingPathComponent("clang.out"), log: desk.folder.appendingPathComponent("clang.log"))
    guard program.exit(within: 60) == 0 else { throw Program.Failure(description: "clang: \(program.logText)") }
  }

  /// What the daemon is started with.
  var environment: [String: String] { ["LD_PRELOAD": library.path, "TEST_CLOCK": offset.path] }

  /// Moves the daemon's clock to so many seconds from the machine's.
  func move(to seconds: Int) throws {
    let next = offset.appendingPathExtension("next")
    try Program.noFileIsBeingWritten.withLock { try Data("\(seconds)".utf8).write(to: next) }
    guard rename(next.path, offset.path) == 0 else { throw Program.Failure(description: "the clock can't be moved") }
  }

  private static let source = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <fcntl.h>
    #include <stdlib.h>
    #include <sys/time.h>
    #include <sys/timerfd.h>
    #include <time.h>
    #include <unistd.h>
    static long offset(void) {
      char text[32] = {0};
      const char *path = getenv("TEST_CLOCK");
      int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
      if (file < 0) return 0;
      if (read(file, text, sizeof text - 1) < 0) text[0] = 0;
      close(file);
      return atol(text);
    }
    int clock_gettime(clockid_t clock, struct timespec *time) {
      static int (*real)(clockid_t, struct timespec *);
      if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
      int result = real(clock, time);
      if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += offset();
      return result;
    }
    int gettimeofday(struct timeval *time, void *zone) {
      struct timespec now;
      (void)zone;
      int result = clock_gettime(CLOCK_REALTIME, &now);
      time->tv_sec = now.tv_sec;
      time->tv_usec = now.tv_nsec / 1000;
      return result;
    }
    int timerfd_settime(int timer, int flags, const struct itimerspec *next, struct itimerspec *former) {
      static int (*real)(int, int, const struct itimerspec *, struct itimerspec *);
      if (!real) real = dlsym(RTLD_NEXT, "timerfd_settime");
      struct itimerspec moved = *next;
      if ((flags & TFD_TIMER_ABSTIME) && moved.it_value.tv_sec) moved.it_value.tv_sec -= offset();
      return real(timer, flags, &moved, former);
    }
    """
}
