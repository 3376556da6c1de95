// Preloaded, notes in $NOTED_CONNECTIONS what a process connects to over a network, and the names it asks for.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void note(const char* what, const char* where) {
  char line[512];
  const char* path = getenv("NOTED_CONNECTIONS");
  int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (file < 0) return;
  int length = snprintf(line, sizeof line, "%s %s\n", what, where);
  if (write(file, line, length) != length) abort();
  close(file);
}

static void note_address(const char* what, const struct sockaddr* address) {
  char text[INET6_ADDRSTRLEN + 8] = "", host[INET6_ADDRSTRLEN];
  if (address == NULL) return;
  if (address->sa_family == AF_INET) {
    const struct sockaddr_in* four = (const struct sockaddr_in*)address;
    inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
    snprintf(text, sizeof text, "%s:%d", host, ntohs(four->sin_port));
  } else if (address->sa_family == AF_INET6) {
    const struct sockaddr_in6* six = (const struct sockaddr_in6*)address;
    inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
    snprintf(text, sizeof text, "%s:%d", host, ntohs(six->sin6_port));
  } else {
    return;  // A socket of this machine.
  }
  note(what, text);
}

int connect(int file, const struct sockaddr* address, socklen_t length) {
  note_address("connect", address);
  int (*next)(int, const struct sockaddr*, socklen_t) = dlsym(RTLD_NEXT, "connect");
  return next(file, address, length);
}

ssize_t sendto(int file, const void* data, size_t size, int flags, const struct sockaddr* address,
               socklen_t length) {
  note_address("sendto", address);
  ssize_t (*next)(int, const void*, size_t, int, const struct sockaddr*, socklen_t) =
      dlsym(RTLD_NEXT, "sendto");
  return next(file, data, size, flags, address, length);
}

int getaddrinfo(const char* host, const char* service, const struct addrinfo* hints,
                struct addrinfo** result) {
  note("getaddrinfo", host ? host : "");
  int (*next)(const char*, const char*, const struct addrinfo*, struct addrinfo**) =
      dlsym(RTLD_NEXT, "getaddrinfo");
  return next(host, service, hints, result);
}
