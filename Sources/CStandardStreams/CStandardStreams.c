#define _GNU_SOURCE
#include "CStandardStreams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Reports output of stdio that could not be written, as on a full disk. Success becomes failure then.
static void report_lost_output(int status, void *unused) {
  (void)unused;
  errno = 0;
  int has_failed = ferror(stdout);
  if (fflush(stdout) == 0 && !has_failed) return;
  int error = errno;
  // Without a reader, as below head(1), nothing is missed.
  if (error == EPIPE) return;
  dprintf(
      STDERR_FILENO, "%s: The output can't be written%s%s.\n", program_invocation_short_name, error == 0 ? "" : ": ",
      error == 0 ? "" : strerror(error));
  if (status == EXIT_SUCCESS) _exit(EXIT_FAILURE);
}

/// Opens `/dev/null` in place of each standard stream that is closed, before `main` and before other constructors.
///
/// The direction is the wrong one, so that a read or write fails with EBADF, as with a closed stream. A program that
/// reports such failures goes on to report them.
__attribute__((constructor(101))) static void prepare_standard_streams(void) {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    int direction = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    // The new descriptor is the lowest free number, which is this stream. Without /dev, an O_PATH descriptor takes it.
    if (open("/dev/null", direction) < 0) (void)open("/", O_PATH);
  }
  on_exit(report_lost_output, NULL);
}
