// SPDX-License-Identifier: GPL-2.0
/* The attacks of vram-client on a quota of VRAM. */
#include <amdgpu_drm.h>
#include <drm.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vram-client.h"

int do_command(uint64_t size)
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
int do_compat(uint64_t size)
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
 * The kernel reads the argument twice, first to look at it, then for the driver. It lies on two
 * pages, and the second one is absent: the first reading waits there, after it has read the first
 * page's part. Then that part changes.
 */
struct race {
	int fault_fd;
	char *page;	  /* the second one */
	const char *then; /* what the driver is to read */
	size_t size, split;
};

static void *race_thread(void *arg)
{
	static char rest[4096] __attribute__((aligned(8)));
	struct race *r = arg;
	struct uffdio_copy copy = { .dst = (uintptr_t)r->page,
				    .src = (uintptr_t)rest,
				    .len = sizeof(rest) };
	struct uffd_msg message;

	memcpy(rest, r->then + r->split, r->size - r->split);
	if (read(r->fault_fd, &message, sizeof(message)) == sizeof(message)) {
		memcpy(r->page - r->split, r->then, r->split);
		ioctl(r->fault_fd, UFFDIO_COPY, &copy);
	}
	return NULL;
}

/* The first "split" bytes of "arg" become those of "then" between the readings. */
static int race_call(unsigned long request, const void *arg, void *then, size_t size, size_t split)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct race r = { .fault_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC),
			  .then = then,
			  .size = size,
			  .split = split };
	pthread_t thread;
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	r.page = pages + 4096;
	memcpy(r.page - split, arg, split);
	range.range.start = (uintptr_t)r.page;
	range.range.len = 4096;
	if (pages == MAP_FAILED || ioctl(r.fault_fd, UFFDIO_API, &api) ||
	    ioctl(r.fault_fd, UFFDIO_REGISTER, &range) ||
	    pthread_create(&thread, NULL, race_thread, &r)) {
		printf("race unable errno=%d\n", errno);
		exit(1);
	}
	err = call(device(), request, r.page - split);
	pthread_join(thread, NULL);
	memcpy(then, r.page - split, size);
	munmap(pages, 8192);
	close(r.fault_fd);
	return err;
}

static uint64_t size_of(uint32_t handle)
{
	struct drm_amdgpu_gem_create_in info = { 0 };
	struct drm_amdgpu_gem_op op = { .handle = handle,
					.op = AMDGPU_GEM_OP_GET_GEM_CREATE_INFO,
					.value = (uintptr_t)&info };

	return call(device(), DRM_IOCTL_AMDGPU_GEM_OP, &op) ? 0 : info.bo_size;
}

int do_race(uint64_t size, uint64_t big)
{
	union drm_amdgpu_gem_create first = { .in = { .bo_size = size } };
	union drm_amdgpu_gem_create then = {
		.in = { .bo_size = big, .alignment = 4096, .domains = AMDGPU_GEM_DOMAIN_VRAM }
	};
	int err = race_call(DRM_IOCTL_AMDGPU_GEM_CREATE, &first, &then, sizeof(then),
			    sizeof(first.in.bo_size));

	printf("race errno=%d asked=%" PRIu64 " made=%" PRIu64 "\n", -err, size,
	       err ? 0 : size_of(then.out.handle));
	return 0;
}

int do_race_domain(uint64_t size)
{
	union drm_amdgpu_gem_create first = {
		.in = { .bo_size = size, .alignment = 4096, .domains = AMDGPU_GEM_DOMAIN_GTT }
	};
	union drm_amdgpu_gem_create then = first;
	int err;

	then.in.domains = AMDGPU_GEM_DOMAIN_VRAM;
	err = race_call(DRM_IOCTL_AMDGPU_GEM_CREATE, &first, &then, sizeof(then),
			offsetof(struct drm_amdgpu_gem_create_in, domain_flags));
	printf("race-domain errno=%d made=%" PRIu64 "\n", -err, err ? 0 : size_of(then.out.handle));
	return 0;
}

int do_race_op(uint64_t size)
{
	struct drm_amdgpu_gem_op first = { .op = AMDGPU_GEM_OP_GET_GEM_CREATE_INFO }, then;
	int err = object_new(size, AMDGPU_GEM_DOMAIN_GTT, true);

	first.handle = err ? 0 : object_last();
	then = first;
	then.op = AMDGPU_GEM_OP_SET_PLACEMENT;
	then.value = AMDGPU_GEM_DOMAIN_VRAM;
	err = err ? err
		  : race_call(DRM_IOCTL_AMDGPU_GEM_OP, &first, &then, sizeof(then),
			      offsetof(struct drm_amdgpu_gem_op, value));
	printf("race-op errno=%d\n", -err);
	return 0;
}

int do_placement(uint64_t size)
{
	struct drm_amdgpu_gem_op op = { .op = AMDGPU_GEM_OP_SET_PLACEMENT,
					.value = AMDGPU_GEM_DOMAIN_VRAM };
	int err = object_new(size, AMDGPU_GEM_DOMAIN_GTT, true);

	if (!err) {
		op.handle = object_last();
		err = call(device(), DRM_IOCTL_AMDGPU_GEM_OP, &op);
	}
	printf("placement errno=%d\n", -err);
	return 0;
}

static int create_on(int fd, uint64_t size)
{
	union drm_amdgpu_gem_create create = {
		.in = { .bo_size = size, .alignment = 4096, .domains = AMDGPU_GEM_DOMAIN_VRAM }
	};

	return fd < 0 ? fd : call(fd, DRM_IOCTL_AMDGPU_GEM_CREATE, &create);
}

/* The first file of the primary node is its master. */
static int card(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
	return fd;
}

int do_dumb(uint64_t width, uint64_t height)
{
	struct drm_mode_create_dumb dumb = { .width = (uint32_t)width,
					     .height = (uint32_t)height,
					     .bpp = 32 };
	int err = card() < 0 ? -errno : call(card(), DRM_IOCTL_MODE_CREATE_DUMB, &dumb);

	printf("dumb bytes=%" PRIu64 " errno=%d\n", (uint64_t)dumb.size, -err);
	return 0;
}

/* A lease needs no object to lend: this card has no connector. */
int do_master(uint64_t size)
{
	struct drm_mode_create_lease lease = { .flags = O_CLOEXEC };
	int err = call(card(), DRM_IOCTL_SET_MASTER, NULL);
	int leased = call(card(), DRM_IOCTL_MODE_CREATE_LEASE, &lease);

	printf("master errno=%d lease errno=%d created=%d leased=%d\n", -err, -leased,
	       -create_on(card(), size), leased ? -1 : -create_on((int)lease.fd, size));
	return 0;
}

int do_clone(const char *dir)
{
	struct clone_args args = { .flags = CLONE_INTO_CGROUP,
				   .exit_signal = SIGCHLD,
				   .cgroup = (unsigned int)open(dir, O_RDONLY | O_DIRECTORY) };
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (!pid)
		_exit(0);
	printf("cloned errno=%d\n", pid < 0 ? errno : 0);
	return pid > 0 && waitpid((pid_t)pid, NULL, 0) != pid;
}
