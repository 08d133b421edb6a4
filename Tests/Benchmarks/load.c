// Load for a line protocol on a Unix socket: N connections, one request in flight on each, for a number of seconds.
// An answer ends with a newline or with the character given last.
// Prints: requests per second, p50 and p99 in microseconds, and the bytes of one answer.
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MAX_SAMPLES 8000000
#define MAX_CONNECTIONS 1024

static uint32_t *samples;
static size_t sample_count;
static uint64_t sent_at[MAX_CONNECTIONS];
static int sockets[MAX_CONNECTIONS];

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// Ends the program, saying why.
static _Noreturn void fail(const char *what) {
  perror(what);
  exit(1);
}

static void send_whole(int socket, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t sent = write(socket, bytes, length);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) fail("load: write");
    bytes += sent;
    length -= (size_t)sent;
  }
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
  if (argc != 5 && argc != 6) {
    fprintf(stderr, "usage: load SOCKET CONNECTIONS SECONDS REQUEST [END]\n");
    return 64;
  }
  char last = argc == 6 ? argv[5][0] : '\n';
  int connections = atoi(argv[2]);
  double seconds = atof(argv[3]);
  if (connections < 1 || connections > MAX_CONNECTIONS) {
    fprintf(stderr, "load: 1 to %d connections\n", MAX_CONNECTIONS);
    return 64;
  }
  // A backslash and an n in the argument stand for a newline, "\r\n" for redis.
  char request[65536];
  size_t length = 0;
  for (const char *c = argv[4]; *c && length < sizeof request - 2; c++) {
    if (c[0] == '\\' && c[1] == 'n') { request[length++] = '\n'; c++; }
    else if (c[0] == '\\' && c[1] == 'r') { request[length++] = '\r'; c++; }
    else request[length++] = *c;
  }
  samples = malloc(MAX_SAMPLES * sizeof *samples);
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
  for (int i = 0; i < connections; i++) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    while (connect(fd, (struct sockaddr *)&address, sizeof address)) {
      if (errno != EAGAIN) fail("load: connect");
      usleep(1000);
    }
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    sockets[i] = fd;
  }
  uint64_t begin = now(), end = begin + (uint64_t)(seconds * 1e9);
  for (int i = 0; i < connections; i++) {
    sent_at[i] = now();
    send_whole(sockets[i], request, length);
  }
  struct epoll_event events[256];
  char buffer[65536];
  uint64_t t = begin;
  size_t answer = 0;
  while (t < end) {
    int count = epoll_wait(epoll, events, 256, 1000);
    for (int k = 0; k < count; k++) {
      uint32_t i = events[k].data.u32;
      ssize_t got = read(sockets[i], buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("load: read");
      if (got == 0) { fprintf(stderr, "load: a connection was closed\n"); return 1; }
      answer = (size_t)got;
      if (buffer[got - 1] != last) continue;
      t = now();
      if (sample_count < MAX_SAMPLES) samples[sample_count++] = (uint32_t)((t - sent_at[i]) / 10);
      sent_at[i] = t;
      send_whole(sockets[i], request, length);
    }
    t = now();
  }
  double elapsed = (double)(t - begin) / 1e9;
  if (sample_count == 0) { fprintf(stderr, "load: no answer came\n"); return 1; }
  qsort(samples, sample_count, sizeof *samples, ascending);
  printf("%.0f %.2f %.2f %zu\n", (double)sample_count / elapsed, samples[sample_count / 2] / 100.0,
         samples[sample_count * 99 / 100] / 100.0, answer);
  return 0;
}
