// SPDX-License-Identifier: GPL-2.0
/*
 * ttm-client: fills the memory of a TTM driver other than amdgpu through that driver's ioctls:
 * qxl, whose buffers can be moved back, and radeon. It runs its steps in order and prints a line of
 * facts for each, times in ns of CLOCK_BOOTTIME. Exit status: 0 done (also if an allocation
 * fails), 1 failed, 2 usage.
 */
#include <drm.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <qxl_drm.h>
#include <radeon_drm.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S    1000000000ull
#define BUFFERS_MAX 4096

struct client {
	int fd;
	const struct driver *driver;
	size_t count;
	uint32_t handle[BUFFERS_MAX];
	uint64_t bytes[BUFFERS_MAX];
};

/* touch: the driver moves a buffer to its domain; NULL if no cheap ioctl does that. */
struct driver {
	const char *name;
	int (*alloc)(struct client *c, uint64_t bytes, uint32_t *ret_handle);
	int (*touch)(struct client *c, uint32_t handle);
};

static uint64_t boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static int call(struct client *c, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(c->fd, request, arg);
	} while (ret < 0 && (errno == EINTR || errno == EAGAIN));
	return ret < 0 ? -errno : 0;
}

static void say(const char *step, uint64_t bytes, uint32_t handle, int err)
{
	printf("step=%s at_ns=%" PRIu64 " bytes=%" PRIu64 " handle=%u errno=%d (%s)\n", step,
	       boot_ns(), bytes, handle, -err, err ? strerrorname_np(-err) : "ok");
}

static int qxl_alloc(struct client *c, uint64_t bytes, uint32_t *ret_handle)
{
	struct drm_qxl_alloc alloc = { .size = (uint32_t)bytes };
	int err = call(c, DRM_IOCTL_QXL_ALLOC, &alloc);

	if (!err)
		*ret_handle = alloc.handle;
	return err;
}

/* Validates the buffer's placement, then fails since it is not a surface (qxl_ioctl.c). */
static int qxl_touch(struct client *c, uint32_t handle)
{
	struct drm_qxl_update_area area = { .handle = handle, .bottom = 1, .right = 1 };
	int err = call(c, DRM_IOCTL_QXL_UPDATE_AREA, &area);

	return err == -EINVAL ? 0 : err;
}

static int radeon_alloc(struct client *c, uint64_t bytes, uint32_t *ret_handle)
{
	struct drm_radeon_gem_create create = {
		.size = bytes,
		.alignment = 4096,
		.initial_domain = RADEON_GEM_DOMAIN_VRAM,
	};
	int err = call(c, DRM_IOCTL_RADEON_GEM_CREATE, &create);

	if (!err)
		*ret_handle = create.handle;
	return err;
}

static const struct driver drivers[] = {
	{ "qxl", qxl_alloc, qxl_touch },
	{ "radeon", radeon_alloc, NULL },
};

static const struct driver *find_driver(struct client *c)
{
	char name[32] = "";
	struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };

	if (call(c, DRM_IOCTL_VERSION, &version))
		return NULL;
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (!strcmp(name, drivers[i].name))
			return &drivers[i];
	return NULL;
}

static int step_alloc(struct client *c, uint64_t count, uint64_t mib)
{
	for (uint64_t i = 0; i < count && c->count < BUFFERS_MAX; i++) {
		uint32_t handle = 0;
		int err;

		say("ask", mib << 20, 0, 0);
		err = c->driver->alloc(c, mib << 20, &handle);
		say("alloc", mib << 20, handle, err);
		if (err)
			continue;
		c->handle[c->count] = handle;
		c->bytes[c->count++] = mib << 20;
	}
	return 0;
}

static int step_touch(struct client *c)
{
	int err = 0;

	if (!c->driver->touch)
		return -EOPNOTSUPP;
	for (size_t i = 0; i < c->count; i++) {
		err = c->driver->touch(c, c->handle[i]);
		say("touch", c->bytes[i], c->handle[i], err);
	}
	return err;
}

/* SIGUSR1 starts the next step, SIGTERM the one after the last. */
static int step_pause(struct client *c, int *ret_signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	say("pause", c->count, 0, 0);
	return -sigwait(&set, ret_signal);
}

static int run(struct client *c, char **words)
{
	int sig = 0, err = 0;

	for (; *words && !err && sig != SIGTERM; words++) {
		if (!strcmp(*words, "alloc") && words[1] && words[2]) {
			err = step_alloc(c, strtoull(words[1], NULL, 0),
					 strtoull(words[2], NULL, 0));
			words += 2;
		} else if (!strcmp(*words, "touch")) {
			err = step_touch(c);
		} else if (!strcmp(*words, "pause")) {
			err = step_pause(c, &sig);
		} else {
			err = -EINVAL;
		}
	}
	say("end", c->count, 0, err);
	return err;
}

static int usage(void)
{
	fprintf(stderr, "usage: ttm-client [--device PATH] [--comm NAME] [-m MODEL] STEP...\n"
			"steps: alloc COUNT MIB_EACH | touch | pause (until SIGUSR1 or SIGTERM)\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "comm", required_argument, NULL, 'c' },
		{ 0 },
	};
	const char *device = "/dev/dri/card0";
	static struct client c;
	sigset_t set;
	int opt;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((opt = getopt_long(argc, argv, "m:", longs, NULL)) != -1) {
		if (opt == 'd')
			device = optarg;
		else if (opt == 'c')
			prctl(PR_SET_NAME, optarg);
		else if (opt != 'm') /* an engine's command line has a model; nothing is read */
			return usage();
	}
	if (optind == argc)
		return usage();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	c.fd = open(device, O_RDWR | O_CLOEXEC);
	c.driver = c.fd < 0 ? NULL : find_driver(&c);
	if (!c.driver) {
		fprintf(stderr, "ttm-client: '%s' is no device of qxl or radeon: %s\n", device,
			strerror(errno));
		return 1;
	}
	printf("pid=%d driver=%s device=%s\n", getpid(), c.driver->name, device);
	return run(&c, argv + optind) ? 1 : 0;
}
