/* The connection to rocdbg, and the window of memory that both processes map at the same addresses.
 *
 * Requests are answered one after the other. The socket is an abstract one, so that no file is left behind, and rocdbg
 * looks at who connects. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime.h"

control_t *control;
uint64_t window_base, window_size, own_token;
static int sock = -1, window_file = -1;
static pthread_mutex_t wire = PTHREAD_MUTEX_INITIALIZER;

bool is_open(void) { return control != NULL; }

_Noreturn void debugger_gone(void) {
  say(0, "rocdbg has ended, so the simulated GPU no longer exists");
  _exit(121);
}

bool send_all(int to, const void *data, size_t size) {
  for (const char *at = data; size;) {
    ssize_t count = send(to, at, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count, size -= count;
  }
  return true;
}

bool receive_all(int from, void *data, size_t size) {
  for (char *at = data; size;) {
    ssize_t count = recv(from, at, size, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count, size -= count;
  }
  return true;
}

/* A reply's head, and the open file that came along or -1. */
static bool receive_reply(reply_t *reply, int *file) {
  char room[CMSG_SPACE(sizeof(int))];
  struct iovec part = {reply, sizeof *reply};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  ssize_t count;
  do count = recvmsg(sock, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC); while (count < 0 && errno == EINTR);
  struct cmsghdr *head = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  *file = -1;
  if (head && head->cmsg_type == SCM_RIGHTS) memcpy(file, CMSG_DATA(head), sizeof *file);
  size_t have = count > 0 ? count : 0;
  return have && receive_all(sock, (char *)reply + have, sizeof *reply - have);
}

hsa_status_t ask_for_file(uint32_t operation, const uint64_t arguments[REQUEST_ARGUMENTS], const struct iovec *payload,
                          int parts, reply_t *reply, char **out, int *file) {
  if (out) *out = NULL;
  uint64_t size = 0;
  for (int i = 0; i < parts; i++) size += payload[i].iov_len;
  if (size > MAX_PAYLOAD) {
    say(operation == REQUEST_LOAD ? 0 : 1, "a request with %lu bytes, the limit is %u", size, MAX_PAYLOAD);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  request_t request = {operation, size, {0}};
  if (arguments) memcpy(request.arguments, arguments, sizeof request.arguments);
  pthread_mutex_lock(&wire);
  bool good = send_all(sock, &request, sizeof request);
  for (int i = 0; good && i < parts; i++) good = send_all(sock, payload[i].iov_base, payload[i].iov_len);
  good = good && receive_reply(reply, file);
  char *data = NULL;
  if (good && reply->payload) {
    data = malloc((size_t)reply->payload + 1);
    good = data && receive_all(sock, data, reply->payload);
    if (good) data[reply->payload] = 0;
  }
  pthread_mutex_unlock(&wire);
  if (!good) debugger_gone();
  if (reply->status && data) say(operation == REQUEST_LOAD ? 0 : 1, "%s", data); /* no memory is nothing unusual */
  if (out && !reply->status) *out = data; else free(data);
  return reply->status;
}

hsa_status_t ask(uint32_t operation, const uint64_t arguments[REQUEST_ARGUMENTS], const struct iovec *payload, int parts,
                 reply_t *reply, char **out) {
  reply_t own;
  int file = -1;
  hsa_status_t status = ask_for_file(operation, arguments, payload, parts, reply ? reply : &own, out, &file);
  if (file >= 0) close(file);
  return status;
}

hsa_status_t ask_number(uint32_t operation, uint64_t first, uint64_t second, uint64_t third, uint64_t *value) {
  uint64_t arguments[REQUEST_ARGUMENTS] = {first, second, third};
  reply_t reply;
  hsa_status_t status = ask(operation, arguments, NULL, 0, &reply, NULL);
  if (!status && value) *value = reply.values[0];
  return status;
}

static int connect_socket(void) {
  const char *name = getenv(SOCKET_VARIABLE);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!name || !*name || strlen(name) + 1 > sizeof address.sun_path) return -1;
  memcpy(address.sun_path + 1, name, strlen(name)); /* abstract: the first byte is 0 */
  int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s >= 0 && connect(s, (void *)&address, offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))) {
    close(s);
    s = -1;
  }
  return s;
}

int open_events(void) {
  int s = connect_socket();
  request_t request = {REQUEST_EVENTS, 0, {own_token}};
  if (s >= 0 && !send_all(s, &request, sizeof request)) {
    close(s);
    s = -1;
  }
  return s;
}

hsa_status_t open_connection(void) {
  if (!getenv(SOCKET_VARIABLE)) {
    say(0, "no GPU: run the program with `rocdbg run PROGRAM` or `rocdbg --args PROGRAM`");
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  sock = connect_socket();
  if (sock < 0) {
    say(0, "no GPU: the rocdbg that started this program does not answer: %s", strerror(errno));
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  request_t request = {REQUEST_HELLO, 0, {PROTOCOL_VERSION}};
  reply_t reply;
  int file;
  char *text = NULL;
  if (!send_all(sock, &request, sizeof request) || !receive_reply(&reply, &file)) debugger_gone();
  text = malloc((size_t)reply.payload + 1);
  if (!text || !receive_all(sock, text, reply.payload)) debugger_gone();
  text[reply.payload] = 0;
  size_t count = reply.payload / sizeof(agent_record_t);
  if (reply.status || file < 0 || count < 1 || count > MAX_AGENTS) {
    say(0, "no GPU: %s", reply.status ? text : "rocdbg has sent an invalid answer");
    goto failed;
  }
  window_base = reply.values[0], window_size = reply.values[1], own_token = reply.values[3];
  void *wanted = (void *)window_base;
  void *got = mmap(wanted, window_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0);
  if (got != wanted) {
    say(0, "no GPU: its memory, %#lx bytes at %#lx, cannot be mapped into this process: %s", window_size, window_base,
        got == MAP_FAILED ? strerror(errno) : "the addresses are in use");
    if (got != MAP_FAILED) munmap(got, window_size);
    goto failed;
  }
  madvise(got, window_size, MADV_DONTDUMP); /* a core file would be as large as the window */
  madvise(got, window_size, MADV_DONTFORK);
#ifdef PR_SET_PTRACER
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* gdb may attach where Yama restricts that */
#endif
  window_file = file;
  make_agents((agent_record_t *)text, count);
  control = (control_t *)reply.values[2];
  free(text);
  return OK;
failed:
  free(text);
  close(sock);
  if (file >= 0) close(file);
  sock = -1;
  return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

/* Pages of the window's file, or of another process's, at an address of the window. */
bool map_pages(uint64_t address, uint64_t size, int file, uint64_t offset) {
  int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED;
  size = (size + 4095) & ~4095ul;
  void *at = mmap((void *)address, size, PROT_READ | PROT_WRITE, flags, file < 0 ? window_file : file, offset);
  if (at == MAP_FAILED) return false;
  madvise(at, size, MADV_DONTDUMP);
  madvise(at, size, MADV_DONTFORK);
  return true;
}

/* A child of fork has neither the window nor a say on its parent's connection; it may open one of its own. */
static void forked(void) {
  if (sock >= 0) close(sock);
  if (window_file >= 0) close(window_file);
  sock = window_file = -1;
  control = NULL;
  wire = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  forget_blocks();
  forget_mappings();
  forget_signals();
  forget_handlers();
  forget_copies();
  forget_queues();
  forget_events();
  forget_executables();
  forget_images();
}

/* Only the process that rocdbg started itself dies with it: what that starts may outlive it on purpose. Whoever uses the
 * GPU ends when the connection does. */
__attribute__((constructor)) static void loaded(void) {
  const char *parent = getenv(PARENT_VARIABLE);
  if (parent && atol(parent) == getppid()) {
    prctl(PR_SET_PDEATHSIG, 9);
    if (atol(parent) != getppid()) _exit(121); /* it ended meanwhile */
  }
  pthread_atfork(NULL, NULL, forked);
}
