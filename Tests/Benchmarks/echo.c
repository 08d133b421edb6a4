// A yardstick: answers every line on a Unix socket with the same bytes, with epoll and nothing else.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char answer[65536];
static size_t answer_length;

int main(int argc, char **argv) {
  if (argc != 3) return 64;
  answer_length = (size_t)atoi(argv[2]);
  if (answer_length < 2 || answer_length > sizeof answer) return 64;
  memset(answer, 'x', answer_length);
  answer[answer_length - 1] = '\n';

  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
  unlink(argv[1]);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) return 1;

  int epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
  puts("ready");
  fflush(stdout);

  struct epoll_event events[64];
  char buffer[65536];
  for (;;) {
    int count = epoll_wait(epoll, events, 64, -1);
    for (int i = 0; i < count; i++) {
      int fd = events[i].data.fd;
      if (fd == listener) {
        int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (peer < 0) continue;
        struct epoll_event added = {.events = EPOLLIN, .data.fd = peer};
        epoll_ctl(epoll, EPOLL_CTL_ADD, peer, &added);
        continue;
      }
      ssize_t length = read(fd, buffer, sizeof buffer);
      if (length <= 0) {
        close(fd);
        continue;
      }
      for (ssize_t at = 0; at < length; at++)
        if (buffer[at] == '\n' && write(fd, answer, answer_length) < 0) break;
    }
  }
}
