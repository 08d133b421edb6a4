/* A wall clock of one process's own: seconds from the machine's, read from the file $TEST_CLOCK. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <semaphore.h>
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
/* The timers of the wall clock, by descriptor. Those of other clocks are left alone. */
static unsigned char is_wall[1 << 16];
int timerfd_create(clockid_t clock, int flags) {
  static int (*real)(clockid_t, int);
  if (!real) real = dlsym(RTLD_NEXT, "timerfd_create");
  int timer = real(clock, flags);
  if (timer >= 0 && timer < (int)sizeof is_wall) is_wall[timer] = clock == CLOCK_REALTIME;
  return timer;
}
int timerfd_settime(int timer, int flags, const struct itimerspec *next, struct itimerspec *former) {
  static int (*real)(int, int, const struct itimerspec *, struct itimerspec *);
  if (!real) real = dlsym(RTLD_NEXT, "timerfd_settime");
  struct itimerspec moved = *next;
  if ((flags & TFD_TIMER_ABSTIME) && moved.it_value.tv_sec && timer >= 0 && timer < (int)sizeof is_wall && is_wall[timer])
    moved.it_value.tv_sec -= offset();
  return real(timer, flags, &moved, former);
}
int sem_timedwait(sem_t *semaphore, const struct timespec *end) {
  static int (*real)(sem_t *, const struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "sem_timedwait");
  struct timespec moved = *end;
  moved.tv_sec -= offset();
  return real(semaphore, &moved);
}
