import Foundation
import Glibc

/// A name service for one daemon whose look-ups wait until the test releases them, as if a directory server were down.
/// It is a library in front of libc's `getpwnam_r` and `getgrnam_r`.
///
/// Names that begin with `slow` wait, and get the number 4242. The machine resolves all other names. With `hangsUnits`,
/// look-ups of a process's unit wait, too.
struct HangingNames {
  private let answers: URL
  private let library: URL
  private let hangsUnits: Bool

  init(in desk: Desk, hangsUnits: Bool = false) throws {
    self.hangsUnits = hangsUnits
    answers = desk.folder.appendingPathComponent("names-answer")
    library = desk.folder.appendingPathComponent("names.so")
    let source = try desk.write("names.c", Self.source)
    let program = try Program(
      "/usr/bin/env", ["clang", "-shared", "-fPIC", "-o", library.path, source.path],
      output: desk.folder.appendingPathComponent("clang.out"), log: desk.folder.appendingPathComponent("clang.log"))
    guard program.exit(within: 60) == 0 else { throw Program.Failure(description: "clang: \(program.logText)") }
  }

  /// The environment variables for the daemon.
  var environment: [String: String] {
    ["LD_PRELOAD": library.path, "TEST_NAMES": answers.path, "TEST_UNITS": hangsUnits ? "slow" : "none"]
  }

  /// Whether a look-up of a name that begins with `slow` has arrived so far.
  var isAsked: Bool { FileManager.default.fileExists(atPath: answers.path + ".asked") }

  /// Releases all look-ups from now on.
  func answer() throws {
    try Program.noFileIsBeingWritten.withLock { try Data().write(to: answers) }
  }

  private static let source = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <fcntl.h>
    #include <grp.h>
    #include <pwd.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    static int waits(const char *name) {
      char asked[512];
      const char *path = getenv("TEST_NAMES");
      if (!path || strncmp(name, "slow", 4)) return 0;
      snprintf(asked, sizeof asked, "%s.asked", path);
      int file = open(asked, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
      if (file >= 0) close(file);
      while (access(path, F_OK)) usleep(20000);
      return 1;
    }
    int getpwnam_r(const char *name, struct passwd *entry, char *buffer, size_t size, struct passwd **found) {
      static int (*real)(const char *, struct passwd *, char *, size_t, struct passwd **);
      if (!real) real = dlsym(RTLD_NEXT, "getpwnam_r");
      if (!waits(name)) return real(name, entry, buffer, size, found);
      entry->pw_uid = 4242;
      *found = entry;
      return 0;
    }
    int getgrnam_r(const char *name, struct group *entry, char *buffer, size_t size, struct group **found) {
      static int (*real)(const char *, struct group *, char *, size_t, struct group **);
      if (!real) real = dlsym(RTLD_NEXT, "getgrnam_r");
      if (!waits(name)) return real(name, entry, buffer, size, found);
      entry->gr_gid = 4242;
      *found = entry;
      return 0;
    }
    int sd_pid_get_user_unit(pid_t pid, char **unit) {
      static int (*real)(pid_t, char **);
      if (!real) real = dlsym(RTLD_NEXT, "sd_pid_get_user_unit");
      const char *way = getenv("TEST_UNITS");
      if (way) waits(way);
      return real(pid, unit);
    }
    """
}
