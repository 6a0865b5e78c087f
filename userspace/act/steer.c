/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/steer.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/file.h"

#define SOCKETS_MAX 4096 /* descriptors read of one process */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static uint16_t port_of(const union address *a)
{
	if (a->any.sa_family == AF_INET)
		return ntohs(a->v4.sin_port);
	return a->any.sa_family == AF_INET6 ? ntohs(a->v6.sin6_port) : 0;
}

static int option(int fd, int level, int name)
{
	int value = 0;
	socklen_t size = sizeof(value);

	return getsockopt(fd, level, name, &value, &size) ? 0 : value;
}

/* The address of a TCP socket bound to "port" (0: any); -errno: another socket. */
static int local_address(int fd, uint16_t port, union address *ret_address)
{
	socklen_t size = sizeof(*ret_address);

	memset(ret_address, 0, sizeof(*ret_address));
	if (option(fd, SOL_SOCKET, SO_TYPE) != SOCK_STREAM ||
	    getsockname(fd, &ret_address->any, &size) || !port_of(ret_address))
		return -ENOTSOCK;
	return port && port_of(ret_address) != port ? -ENOTSOCK : 0;
}

/* Called with a duplicate of each socket on "port", which it may keep by returning 1. */
typedef int (*socket_fn)(int fd, const union address *address, void *arg);

static int steer_look_at(int pidfd, const char *name, uint16_t port, socket_fn fn, void *arg)
{
	union address address;
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, atoi(name), 0);
	int kept = 0;

	if (fd < 0)
		return errno == EPERM ? -EPERM : 0;
	if (!local_address(fd, port, &address))
		kept = fn(fd, &address, arg);
	if (!kept)
		close(fd);
	return kept;
}

static bool is_socket(int dir, const char *name)
{
	char target[32];
	ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);

	return n > 7 && !strncmp(target, "socket:", 7);
}

/* 1: "fn" kept a socket; 0: none; -errno. */
static int each_socket(pid_t pid, uint16_t port, socket_fn fn, void *arg)
{
	DAVY_FD pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	char path[64];
	struct dirent *entry;
	DIR *dir;
	int ret = 0;

	if (pidfd < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	for (size_t i = 0; !ret && i < SOCKETS_MAX && (entry = readdir(dir)); i++)
		if (entry->d_name[0] != '.' && is_socket(dirfd(dir), entry->d_name))
			ret = steer_look_at(pidfd, entry->d_name, port, fn, arg);
	closedir(dir);
	return ret;
}

static int keep_listening(int fd, const union address *address, void *arg)
{
	int *ret_fd = arg;

	(void)address;
	if (!option(fd, SOL_SOCKET, SO_ACCEPTCONN))
		return 0;
	*ret_fd = fd;
	return 1;
}

/* Returns a duplicate; close it soon. */
static int steer_listening(pid_t pid, uint16_t port)
{
	int fd = -1;
	int found = each_socket(pid, port, keep_listening, &fd);

	if (found < 0)
		return found;
	if (!found)
		return -ENOENT;
	if (option(fd, SOL_SOCKET, SO_REUSEPORT))
		return fd;
	close(fd);
	return -ENOTSUP;
}

/* For a wildcard, the loopback address; IPv4's if the socket accepts both. */
static void name_address(int fd, const union address *a, char name[DAVY_ADDRESS_LEN])
{
	bool any = a->any.sa_family == AF_INET ? a->v4.sin_addr.s_addr == htonl(INADDR_ANY)
					       : IN6_IS_ADDR_UNSPECIFIED(&a->v6.sin6_addr);

	if (any)
		snprintf(name, DAVY_ADDRESS_LEN, "%s",
			 a->any.sa_family == AF_INET6 && option(fd, IPPROTO_IPV6, IPV6_V6ONLY)
				 ? "::1"
				 : "127.0.0.1");
	else if (a->any.sa_family == AF_INET)
		inet_ntop(AF_INET, &a->v4.sin_addr, name, DAVY_ADDRESS_LEN);
	else
		inet_ntop(AF_INET6, &a->v6.sin6_addr, name, DAVY_ADDRESS_LEN);
}

struct look {
	struct davy_listener *listener;
	bool found;
	bool shared;
};

static int count_socket(int fd, const union address *address, void *arg)
{
	struct look *look = arg;
	struct tcp_info info = { 0 };
	socklen_t size = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
		return 0;
	if (info.tcpi_state == TCP_ESTABLISHED || info.tcpi_state == TCP_CLOSE_WAIT)
		look->listener->clients++;
	if (info.tcpi_state != TCP_LISTEN)
		return 0;
	look->found = true;
	look->shared = option(fd, SOL_SOCKET, SO_REUSEPORT);
	look->listener->waiting = info.tcpi_unacked; /* of a listening socket: its accept queue */
	name_address(fd, address, look->listener->address);
	return 0;
}

int davy_listener_look(pid_t pid, uint16_t port, struct davy_listener *ret_listener)
{
	struct davy_listener listener = { .port = port };
	struct look look = { .listener = &listener };
	int err = each_socket(pid, port, count_socket, &look);

	if (err)
		return err;
	if (!look.found)
		return -ENOENT;
	*ret_listener = listener;
	return look.shared ? 0 : -ENOTSUP;
}

static int lower_port(int fd, const union address *address, void *arg)
{
	uint16_t *lowest = arg, port = port_of(address);

	if (option(fd, SOL_SOCKET, SO_ACCEPTCONN) && (!*lowest || port < *lowest))
		*lowest = port;
	return 0;
}

uint16_t davy_listening_port(pid_t pid)
{
	uint16_t lowest = 0;

	return each_socket(pid, 0, lower_port, &lowest) ? 0 : lowest;
}

/* Lines as of net/ipv4/tcp_ipv4.c get_tcp4_sock: "sl local:port remote:port st ...". */
static int count_in(const char *path, uint16_t port)
{
	char line[256];
	unsigned int at, state;
	int count = 0;
	DAVY_FILE file = fopen(path, "re");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*u: %*32[0-9A-F]:%4x %*32[0-9A-F]:%*4x %2x", &at, &state) == 2)
			count += at == port && state == TCP_LISTEN;
	return count;
}

int davy_listener_count(pid_t pid, uint16_t port)
{
	static const char *const files[] = { "tcp", "tcp6" };
	char path[64];
	int count = 0;

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, files[i]);
		count += count_in(path, port);
	}
	return count;
}

#define NET(offset) ((uint32_t)SKF_NET_OFF + (offset))

/* Jump offsets count skipped instructions. Packet offsets: RFC 791, RFC 8200, RFC 9293. */
static int steer_attach(int fd, uint16_t from_port, uint32_t for_probe, uint32_t for_others)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, NET(0)),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 4, 0, 7),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NET(16)), /* IPv4: to itself? */
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NET(12)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 12),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, NET(0)),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, NET(0)),
		BPF_STMT(BPF_JMP | BPF_JA, 7),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, NET(6)), /* IPv6, TCP right behind it */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 7),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NET(36)),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NET(20)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 3),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, NET(40)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, from_port, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, for_probe),
		BPF_STMT(BPF_RET | BPF_K, for_others),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof(program))
		       ? -errno
		       : 0;
}

int davy_steer(pid_t pid, uint16_t port, uint16_t from_port, uint32_t for_probe,
	       uint32_t for_others)
{
	DAVY_FD fd = steer_listening(pid, port);

	return fd < 0 ? fd : steer_attach(fd, from_port, for_probe, for_others);
}

int davy_steer_end(pid_t pid, uint16_t port)
{
	DAVY_FD fd = steer_listening(pid, port);

	if (fd < 0)
		return fd;
	return setsockopt(fd, SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, &(int){ 0 }, sizeof(int))
		       ? -errno
		       : 0;
}

int davy_reserve_port(const char *address, uint16_t *ret_port)
{
	union address a = { 0 };
	socklen_t size = sizeof(a);
	int fd, err;

	if (inet_pton(AF_INET, address, &a.v4.sin_addr) == 1)
		a.any.sa_family = AF_INET;
	else if (inet_pton(AF_INET6, address, &a.v6.sin6_addr) == 1)
		a.any.sa_family = AF_INET6;
	else
		return -EINVAL;
	fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) ||
	    bind(fd, &a.any, a.any.sa_family == AF_INET ? sizeof(a.v4) : sizeof(a.v6)) ||
	    getsockname(fd, &a.any, &size)) {
		err = -errno;
		close(fd);
		return err;
	}
	*ret_port = port_of(&a);
	return fd;
}
