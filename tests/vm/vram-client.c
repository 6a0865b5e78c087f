// SPDX-License-Identifier: GPL-2.0
/*
 * vram-client WORD...: allocates VRAM of amdgpu in the ways that an engine and an attacker may.
 * Does the words in order and prints one-line facts. Exit status: 0 done, 1 failed, 2 usage.
 *
 *   open                opens the device: page tables are made
 *   until FILE          waits until the file exists
 *   hold                waits for SIGTERM
 *   create SIZE N       up to N objects in VRAM, mapped for the GPU; stops at the first refusal
 *   bare SIZE N         the same, not mapped: no page table
 *   compat SIZE         creates through the system call of 32-bit processes
 *   random N SEED       N creates, frees, exports, and children that allocate, exec and are killed
 *   drop                frees everything
 *   cycle SIZE N        creates and frees an object N times
 *   command SIZE        creates with other sizes and directions of the command; counts what passes
 *   race SIZE BIG       changes the size between the kernel's two readings of it
 *   race-domain SIZE    the same with the placement, from GTT to VRAM
 *   race-op SIZE        an object of system memory; GEM_OP asks about it, and then moves it to VRAM
 *   placement SIZE      an object of system memory, then GEM_OP moves it to VRAM
 *   master SIZE         creates as the master of the primary node, and as its lessee
 *   dumb WIDTH HEIGHT   a dumb buffer of the primary node
 *   fork SIZE N         a child does "create" on its own file, and stays
 *   take PATH           imports an object that another vram-client gives over this socket
 *   give PATH SIZE      makes an object, and gives it
 *   enter DIR           moves into another cgroup
 *   clone DIR           a child that starts in another cgroup
 *   scatter DIR N       one object of a page in each of N new cgroups below DIR; returns to DIR
 *   exec WORD...        starts itself anew with the rest of the words
 */
#include <amdgpu_drm.h>
#include <drm.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vram-client.h"

#define OBJECTS_MAX 16384
#define VA_FIRST    (256ull << 20)
#define VA_ALIGN    (2ull << 20)
#define CHILDREN    8

static struct {
	uint32_t handle;
	uint64_t size, va;
} object[OBJECTS_MAX];
static size_t object_count;
static uint64_t object_bytes, next_va = VA_FIRST;
static int device_fd = -1;
static char *program;

int call(int fd, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(fd, request, arg);
	} while (ret < 0 && (errno == EINTR || errno == EAGAIN));
	return ret < 0 ? -errno : 0;
}

int device(void)
{
	if (device_fd < 0)
		device_fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	return device_fd;
}

static void object_keep(uint32_t handle, uint64_t size, bool mapped)
{
	struct drm_amdgpu_gem_va va = {
		.handle = handle,
		.operation = AMDGPU_VA_OP_MAP,
		.va_address = next_va,
		.map_size = size,
		.flags = AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_WRITEABLE,
	};

	if (object_count == OBJECTS_MAX)
		exit(1);
	if (mapped && call(device(), DRM_IOCTL_AMDGPU_GEM_VA, &va))
		printf("unmapped handle=%u errno=%d\n", handle, errno);
	object[object_count].handle = handle;
	object[object_count].size = size;
	object[object_count++].va = next_va;
	object_bytes += size;
	next_va += (size + VA_ALIGN - 1) / VA_ALIGN * VA_ALIGN;
}

int object_new(uint64_t size, uint64_t domain, bool mapped)
{
	union drm_amdgpu_gem_create create = {
		.in = { .bo_size = size, .alignment = 4096, .domains = domain }
	};
	int err = call(device(), DRM_IOCTL_AMDGPU_GEM_CREATE, &create);

	if (!err)
		object_keep(create.out.handle, (size + 4095) & ~4095ull, mapped);
	return err;
}

uint32_t object_last(void)
{
	return object[object_count - 1].handle;
}

static void object_free(size_t i)
{
	struct drm_gem_close close_it = { .handle = object[i].handle };

	call(device(), DRM_IOCTL_GEM_CLOSE, &close_it);
	object_bytes -= object[i].size;
	object[i] = object[--object_count];
}

static int do_create(uint64_t size, uint64_t count, bool mapped)
{
	uint64_t made = 0;
	int err = 0;

	while (made < count && !err) {
		err = object_new(size, AMDGPU_GEM_DOMAIN_VRAM, mapped);
		made += !err;
	}
	printf("created count=%" PRIu64 " size=%" PRIu64 " bytes=%" PRIu64 " errno=%d\n", made,
	       size, object_bytes, -err);
	return 0;
}

static int do_drop(void)
{
	while (object_count)
		object_free(object_count - 1);
	next_va = VA_FIRST;
	return 0;
}

static int do_cycle(uint64_t size, uint64_t count)
{
	uint64_t done = 0;

	for (; done < count && !object_new(size, AMDGPU_GEM_DOMAIN_VRAM, false); done++)
		object_free(object_count - 1);
	printf("cycled count=%" PRIu64 "\n", done);
	return 0;
}

static pid_t child_new(uint64_t size, uint64_t count)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (device_fd >= 0)
		close(device_fd);
	device_fd = -1;
	object_count = 0;
	object_bytes = 0;
	next_va = VA_FIRST;
	do_create(size, count, true);
	for (;;)
		pause();
}

/* The same in a new program: its files are closed by exec. */
static pid_t child_exec(uint64_t size)
{
	char bytes[24], *word[] = { program, "create", bytes, "4", "hold", NULL };
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(bytes, sizeof(bytes), "%" PRIu64, size);
	execv("/proc/self/exe", word);
	_exit(1);
}

static int do_random(uint64_t count, uint64_t seed)
{
	unsigned int state = (unsigned int)seed, forks = 0, execs = 0, kills = 0, exports = 0;
	pid_t child[CHILDREN] = { 0 };

	for (uint64_t i = 0; i < count; i++) {
		unsigned int what = (unsigned int)rand_r(&state) % 1000;
		size_t slot = (size_t)rand_r(&state) % CHILDREN;
		uint64_t size = 4096 * (1 + (uint64_t)rand_r(&state) % 64);

		if (what < 3 && child[slot]) {
			kill(child[slot], SIGKILL);
			waitpid(child[slot], NULL, 0);
			child[slot] = 0;
			kills++;
		} else if (what < 5 && !child[slot]) {
			child[slot] = child_new(size, 4);
			forks++;
		} else if (what < 7 && !child[slot]) {
			child[slot] = child_exec(size);
			execs++;
		} else if (what < 50 && object_count) {
			struct drm_prime_handle prime = {
				.handle = object[(size_t)rand_r(&state) % object_count].handle
			};

			if (!call(device(), DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime))
				exports += !close(prime.fd);
		} else if (what < 560 && object_count < 200) {
			object_new(size, what & 1 ? AMDGPU_GEM_DOMAIN_VRAM : AMDGPU_GEM_DOMAIN_GTT,
				   true);
		} else if (object_count) {
			object_free((size_t)rand_r(&state) % object_count);
		}
	}
	printf("random count=%" PRIu64 " objects=%zu forks=%u execs=%u kills=%u exports=%u\n",
	       count, object_count, forks, execs, kills, exports);
	return 0;
}

static int socket_of(const char *path, bool offer)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), peer;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (offer) {
		if (bind(fd, (void *)&at, sizeof(at)) || listen(fd, 1))
			return -1;
		peer = accept(fd, NULL, NULL);
		close(fd);
		return peer;
	}
	while (connect(fd, (void *)&at, sizeof(at)))
		usleep(50000);
	return fd;
}

static int do_pass(const char *path, uint64_t size)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct drm_prime_handle prime = { .fd = -1 };
	int peer = socket_of(path, !size), err = 0;

	if (size) {
		err = object_new(size, AMDGPU_GEM_DOMAIN_VRAM, true);
		prime.handle = err ? 0 : object[object_count - 1].handle;
		err = err ? err : call(device(), DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);
		CMSG_FIRSTHDR(&message)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&message)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&message)->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &prime.fd, sizeof(int));
		printf("exported errno=%d\n", -err);
		return sendmsg(peer, &message, 0) != 1;
	}
	if (recvmsg(peer, &message, 0) != 1)
		return 1;
	memcpy(&prime.fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
	err = call(device(), DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
	printf("imported errno=%d\n", -err);
	return 0;
}

static int move_into(const char *dir)
{
	char path[256];
	int fd, err;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	err = fd < 0 || write(fd, "0", 1) != 1 ? errno : 0;
	if (fd >= 0)
		close(fd);
	return err;
}

static int do_scatter(const char *dir, uint64_t count)
{
	uint64_t made = 0;
	char path[200];
	int err = 0;

	while (made < count && !err) {
		snprintf(path, sizeof(path), "%s/%" PRIu64, dir, made);
		err = mkdir(path, 0755) ? errno : move_into(path);
		err = err ? err : -object_new(4096, AMDGPU_GEM_DOMAIN_VRAM, false);
		made += !err;
	}
	printf("scattered count=%" PRIu64 " errno=%d\n", made, err);
	return move_into(dir);
}

static void on_term(int sig)
{
	(void)sig;
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	return *end == 'M' ? n << 20 : *end == 'K' ? n << 10 : n;
}

/* The number of words used; 0: an unknown word. */
static int run(int count, char **word, int *ret_err)
{
	uint64_t a = count > 1 ? number(word[1]) : 0, b = count > 2 ? number(word[2]) : 0;

	if (!strcmp(word[0], "until") && count > 1)
		while (access(word[1], F_OK))
			usleep(20000);
	else if (!strcmp(word[0], "open"))
		return *ret_err = device() < 0, 1;
	else if (!strcmp(word[0], "hold"))
		return pause(), 1;
	else if (!strcmp(word[0], "create") && count > 2)
		return *ret_err = do_create(a, b, true), 3;
	else if (!strcmp(word[0], "bare") && count > 2)
		return *ret_err = do_create(a, b, false), 3;
	else if (!strcmp(word[0], "compat") && count > 1)
		*ret_err = do_compat(a);
	else if (!strcmp(word[0], "random") && count > 2)
		return *ret_err = do_random(a, b), 3;
	else if (!strcmp(word[0], "drop"))
		return *ret_err = do_drop(), 1;
	else if (!strcmp(word[0], "cycle") && count > 2)
		return *ret_err = do_cycle(a, b), 3;
	else if (!strcmp(word[0], "command") && count > 1)
		*ret_err = do_command(a);
	else if (!strcmp(word[0], "race") && count > 2)
		return *ret_err = do_race(a, b), 3;
	else if (!strcmp(word[0], "race-domain") && count > 1)
		*ret_err = do_race_domain(a);
	else if (!strcmp(word[0], "race-op") && count > 1)
		*ret_err = do_race_op(a);
	else if (!strcmp(word[0], "master") && count > 1)
		*ret_err = do_master(a);
	else if (!strcmp(word[0], "placement") && count > 1)
		*ret_err = do_placement(a);
	else if (!strcmp(word[0], "dumb") && count > 2)
		return *ret_err = do_dumb(a, b), 3;
	else if (!strcmp(word[0], "fork") && count > 2)
		return *ret_err = child_new(a, b) < 0, 3;
	else if (!strcmp(word[0], "give") && count > 2)
		return *ret_err = do_pass(word[1], b), 3;
	else if (!strcmp(word[0], "take") && count > 1)
		*ret_err = do_pass(word[1], 0);
	else if (!strcmp(word[0], "enter") && count > 1)
		printf("entered errno=%d\n", move_into(word[1]));
	else if (!strcmp(word[0], "clone") && count > 1)
		*ret_err = do_clone(word[1]);
	else if (!strcmp(word[0], "scatter") && count > 2)
		return *ret_err = do_scatter(word[1], b), 3;
	else if (!strcmp(word[0], "exec") && count > 1) {
		word[0] = program;
		execv("/proc/self/exe", word);
		return 0;
	} else
		return 0;
	return 2;
}

int main(int argc, char **argv)
{
	struct sigaction term = { .sa_handler = on_term };
	int err = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGTERM, &term, NULL);
	program = argv[0];
	printf("pid=%d\n", getpid());
	for (int i = 1, used; i < argc && !err; i += used) {
		used = run(argc - i, argv + i, &err);
		if (!used) {
			fprintf(stderr, "vram-client: unknown word '%s'\n", argv[i]);
			return 2;
		}
	}
	return err;
}
