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
 *   random N SEED       N creates, frees, exports, forks and kills of children that allocate, too
 *   drop                frees everything
 *   cycle SIZE N        creates and frees an object N times
 *   command SIZE        creates with other sizes and directions of the command; counts what passes
 *   race SIZE BIG       changes the size between the kernel's two readings of it
 *   placement SIZE      an object of system memory, then GEM_OP moves it to VRAM
 *   dumb WIDTH HEIGHT   a dumb buffer of the primary node
 *   fork SIZE N         a child does "create" on its own file, and stays
 *   take PATH           imports an object that another vram-client gives over this socket
 *   give PATH SIZE      makes an object, and gives it
 *   enter DIR           moves into another cgroup
 *   exec WORD...        starts itself anew with the rest of the words
 */
#include <amdgpu_drm.h>
#include <drm.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

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

static int call(int fd, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(fd, request, arg);
	} while (ret < 0 && (errno == EINTR || errno == EAGAIN));
	return ret < 0 ? -errno : 0;
}

static int device(void)
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

static int object_new(uint64_t size, uint64_t domain, bool mapped)
{
	union drm_amdgpu_gem_create create = {
		.in = { .bo_size = size, .alignment = 4096, .domains = domain }
	};
	int err = call(device(), DRM_IOCTL_AMDGPU_GEM_CREATE, &create);

	if (!err)
		object_keep(create.out.handle, (size + 4095) & ~4095ull, mapped);
	return err;
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

static int do_random(uint64_t count, uint64_t seed)
{
	pid_t child[CHILDREN] = { 0 };
	unsigned int state = (unsigned int)seed;

	for (uint64_t i = 0; i < count; i++) {
		unsigned int what = (unsigned int)rand_r(&state) % 1000;
		size_t slot = (size_t)rand_r(&state) % CHILDREN;
		uint64_t size = 4096 * (1 + (uint64_t)rand_r(&state) % 64);

		if (what < 3 && child[slot]) {
			kill(child[slot], SIGKILL);
			waitpid(child[slot], NULL, 0);
			child[slot] = 0;
		} else if (what < 6 && !child[slot]) {
			child[slot] = child_new(size, 4);
		} else if (what < 50 && object_count) {
			struct drm_prime_handle prime = {
				.handle = object[(size_t)rand_r(&state) % object_count].handle
			};

			if (!call(device(), DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime))
				close(prime.fd);
		} else if (what < 560 && object_count < 200) {
			object_new(size, what & 1 ? AMDGPU_GEM_DOMAIN_VRAM : AMDGPU_GEM_DOMAIN_GTT,
				   true);
		} else if (object_count) {
			object_free((size_t)rand_r(&state) % object_count);
		}
	}
	printf("random count=%" PRIu64 " objects=%zu\n", count, object_count);
	return 0;
}

static int do_command(uint64_t size)
{
	const unsigned long commands[] = { _IOC(_IOC_READ | _IOC_WRITE, 'd', 0x40, 24),
					   _IOC(_IOC_READ | _IOC_WRITE, 'd', 0x40, 200),
					   _IOC(_IOC_WRITE, 'd', 0x40, 32),
					   _IOC(_IOC_READ | _IOC_WRITE, 'x', 0x40, 32) };
	int passed = 0;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		union {
			union drm_amdgpu_gem_create create;
			char room[256];
		} arg = { .create.in = { .bo_size = size,
					 .alignment = 4096,
					 .domains = AMDGPU_GEM_DOMAIN_VRAM } };
		int err = call(device(), commands[i], &arg);

		printf("command %zu errno=%d\n", i, -err);
		passed += !err;
	}
	printf("commands passed=%d\n", passed);
	return 0;
}

/* The binary is linked below 4 GiB, so that its data has a 32-bit address. */
static int do_compat(uint64_t size)
{
	static union drm_amdgpu_gem_create create;
	long ret = 54; /* ioctl */

	create.in.bo_size = size;
	create.in.alignment = 4096;
	create.in.domains = AMDGPU_GEM_DOMAIN_VRAM;
	__asm__ volatile("int $0x80"
			 : "+a"(ret)
			 : "b"((long)device()), "c"(DRM_IOCTL_AMDGPU_GEM_CREATE), "d"(&create)
			 : "memory", "r8", "r9", "r10", "r11");
	printf("compat errno=%d\n", ret < 0 ? (int)-ret : 0);
	return 0;
}

/*
 * The kernel reads the argument twice, first to look at it, then for the driver. Its size is the
 * end of one page, the rest is on another that is absent: the first reading waits there, after it
 * has read the size.
 */
struct race {
	int fault_fd;
	char *page; /* the second one */
	uint64_t big;
};

static void *race_thread(void *arg)
{
	struct race *r = arg;
	static uint64_t rest[512] = { 4096, AMDGPU_GEM_DOMAIN_VRAM };
	struct uffdio_copy copy = { .dst = (uintptr_t)r->page,
				    .src = (uintptr_t)rest,
				    .len = 4096 };
	struct uffd_msg message;

	if (read(r->fault_fd, &message, sizeof(message)) == sizeof(message)) {
		memcpy(r->page - sizeof(r->big), &r->big, sizeof(r->big));
		ioctl(r->fault_fd, UFFDIO_COPY, &copy);
	}
	return NULL;
}

static uint64_t size_of(uint32_t handle)
{
	struct drm_amdgpu_gem_create_in info = { 0 };
	struct drm_amdgpu_gem_op op = { .handle = handle,
					.op = AMDGPU_GEM_OP_GET_GEM_CREATE_INFO,
					.value = (uintptr_t)&info };

	return call(device(), DRM_IOCTL_AMDGPU_GEM_OP, &op) ? 0 : info.bo_size;
}

static int do_race(uint64_t size, uint64_t big)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct race r = { .fault_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC), .big = big };
	union drm_amdgpu_gem_create *create;
	pthread_t thread;
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t handle;
	int err;

	r.page = pages + 4096;
	create = (void *)(r.page - sizeof(size));
	memcpy(create, &size, sizeof(size));
	range.range.start = (uintptr_t)r.page;
	range.range.len = 4096;
	if (pages == MAP_FAILED || ioctl(r.fault_fd, UFFDIO_API, &api) ||
	    ioctl(r.fault_fd, UFFDIO_REGISTER, &range) ||
	    pthread_create(&thread, NULL, race_thread, &r)) {
		printf("race unable errno=%d\n", errno);
		return 1;
	}
	err = call(device(), DRM_IOCTL_AMDGPU_GEM_CREATE, create);
	memcpy(&handle, create, sizeof(handle));
	pthread_join(thread, NULL);
	printf("race errno=%d asked=%" PRIu64 " made=%" PRIu64 "\n", -err, size,
	       err ? 0 : size_of(handle));
	return 0;
}

static int do_placement(uint64_t size)
{
	struct drm_amdgpu_gem_op op = { .op = AMDGPU_GEM_OP_SET_PLACEMENT,
					.value = AMDGPU_GEM_DOMAIN_VRAM };
	int err = object_new(size, AMDGPU_GEM_DOMAIN_GTT, true);

	if (!err) {
		op.handle = object[object_count - 1].handle;
		err = call(device(), DRM_IOCTL_AMDGPU_GEM_OP, &op);
	}
	printf("placement errno=%d\n", -err);
	return 0;
}

static int do_dumb(uint64_t width, uint64_t height)
{
	struct drm_mode_create_dumb dumb = { .width = (uint32_t)width,
					     .height = (uint32_t)height,
					     .bpp = 32 };
	int fd = open("/dev/dri/card0", O_RDWR), err;

	err = fd < 0 ? -errno : call(fd, DRM_IOCTL_MODE_CREATE_DUMB, &dumb);
	printf("dumb bytes=%" PRIu64 " errno=%d\n", (uint64_t)dumb.size, -err);
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

static int do_enter(const char *dir)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY);
	printf("entered errno=%d\n", fd < 0 || write(fd, "0", 1) != 1 ? errno : 0);
	if (fd >= 0)
		close(fd);
	return 0;
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
		*ret_err = do_enter(word[1]);
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
