// SPDX-License-Identifier: GPL-2.0
/*
 * gpu-client: a small user of the amdgpu driver's ioctls that takes the place of an inference
 * engine. Prints one-line facts. Exit status: 0 done, 1 failed, 2 usage.
 */
#include <amdgpu_drm.h>
#include <drm.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000ull
#define VA_FIRST  (256ull << 20) /* far above what the driver reserves */
#define VA_ALIGN  (2ull << 20)
#define IB_BYTES  4096u
#define IB_DWORDS 64u	      /* a multiple of every ring's requirement */
#define NOP_DMA	  0xf0000000u /* Southern Islands: DMA packet, and type 2 packet */
#define NOP_GFX	  0x80000000u

struct client {
	int fd;
	uint64_t next_va;
	const char *device, *comm, *slow_path, *after;
	uint32_t ip_type;
	uint64_t wait_ms, hold_s, jobs, pace_ms;
};

struct buffer {
	uint32_t handle;
	uint64_t size, va;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / NS_PER_MS;
}

static void sleep_ms(uint64_t ms)
{
	struct timespec t = { .tv_sec = (time_t)(ms / 1000),
			      .tv_nsec = (long)(ms % 1000 * NS_PER_MS) };

	nanosleep(&t, NULL);
}

static int call(struct client *c, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(c->fd, request, arg);
	} while (ret < 0 && (errno == EINTR || errno == EAGAIN));
	return ret < 0 ? -errno : 0;
}

static int fail(const char *what, int err)
{
	printf("failed=%s errno=%d (%s)\n", what, -err, strerrorname_np(-err));
	return err;
}

static int buffer_new(struct client *c, uint64_t size, uint64_t domain, struct buffer *ret_buffer)
{
	union drm_amdgpu_gem_create create = { .in = {
						       .bo_size = size,
						       .alignment = 4096,
						       .domains = domain,
					       } };
	struct drm_amdgpu_gem_va va = {
		.operation = AMDGPU_VA_OP_MAP,
		.va_address = c->next_va,
		.map_size = size,
		.flags = AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_WRITEABLE |
			 AMDGPU_VM_PAGE_EXECUTABLE,
	};
	int err = call(c, DRM_IOCTL_AMDGPU_GEM_CREATE, &create);

	if (err)
		return fail("gem_create", err);
	va.handle = create.out.handle;
	err = call(c, DRM_IOCTL_AMDGPU_GEM_VA, &va);
	if (err)
		return fail("gem_va", err);
	*ret_buffer = (struct buffer){ create.out.handle, size, c->next_va };
	c->next_va = (c->next_va + size + VA_ALIGN - 1) / VA_ALIGN * VA_ALIGN;
	return 0;
}

static void print_usage(struct client *c)
{
	static const struct {
		const char *name;
		uint32_t query;
	} rows[] = {
		{ "vram_used", AMDGPU_INFO_VRAM_USAGE },
		{ "gtt_used", AMDGPU_INFO_GTT_USAGE },
		{ "evictions", AMDGPU_INFO_NUM_EVICTIONS },
		{ "bytes_moved", AMDGPU_INFO_NUM_BYTES_MOVED },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 0;
		struct drm_amdgpu_info info = {
			.return_pointer = (uintptr_t)&value,
			.return_size = sizeof(value),
			.query = rows[i].query,
		};

		if (!call(c, DRM_IOCTL_AMDGPU_INFO, &info))
			printf("%s%s=%" PRIu64, i ? " " : "", rows[i].name, value);
	}
	printf("\n");
}

static void on_term(int sig)
{
	(void)sig;
}

/* A command buffer of NOPs for the selected ring. */
static int ib_new(struct client *c, struct buffer *ret_ib)
{
	uint32_t nop = c->ip_type == AMDGPU_HW_IP_DMA ? NOP_DMA : NOP_GFX;
	union drm_amdgpu_gem_mmap map;
	uint32_t *words;
	int err;

	err = buffer_new(c, IB_BYTES, AMDGPU_GEM_DOMAIN_GTT, ret_ib);
	if (err)
		return err;
	map = (union drm_amdgpu_gem_mmap){ .in = { .handle = ret_ib->handle } };
	err = call(c, DRM_IOCTL_AMDGPU_GEM_MMAP, &map);
	if (err)
		return fail("gem_mmap", err);
	words = mmap(NULL, IB_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd,
		     (off_t)map.out.addr_ptr);
	if (words == MAP_FAILED)
		return fail("mmap", -errno);
	for (uint32_t i = 0; i < IB_DWORDS; i++)
		words[i] = nop;
	munmap(words, IB_BYTES);
	return 0;
}

static int context_new(struct client *c, uint32_t *ret_context)
{
	union drm_amdgpu_ctx ctx = { .in = { .op = AMDGPU_CTX_OP_ALLOC_CTX } };
	int err = call(c, DRM_IOCTL_AMDGPU_CTX, &ctx);

	if (err)
		return fail("ctx_alloc", err);
	*ret_context = ctx.out.alloc.ctx_id;
	return 0;
}

static void print_context(struct client *c, uint32_t context)
{
	union drm_amdgpu_ctx ctx = { .in = {
					     .op = AMDGPU_CTX_OP_QUERY_STATE2,
					     .ctx_id = context,
				     } };

	if (!call(c, DRM_IOCTL_AMDGPU_CTX, &ctx))
		printf("context id=%u flags=0x%" PRIx64 "\n", context,
		       (uint64_t)ctx.out.state.flags);
}

static int submit(struct client *c, uint32_t context, const struct buffer *ib, uint64_t *ret_seq)
{
	struct drm_amdgpu_bo_list_entry entry = { .bo_handle = ib->handle };
	struct drm_amdgpu_bo_list_in list = {
		.operation = ~0u,
		.list_handle = ~0u,
		.bo_number = 1,
		.bo_info_size = sizeof(entry),
		.bo_info_ptr = (uintptr_t)&entry,
	};
	struct drm_amdgpu_cs_chunk_ib part = {
		.va_start = ib->va,
		.ib_bytes = IB_DWORDS * 4,
		.ip_type = c->ip_type,
	};
	struct drm_amdgpu_cs_chunk chunks[] = {
		{ AMDGPU_CHUNK_ID_BO_HANDLES, sizeof(list) / 4, (uintptr_t)&list },
		{ AMDGPU_CHUNK_ID_IB, sizeof(part) / 4, (uintptr_t)&part },
	};
	uint64_t pointers[] = { (uintptr_t)&chunks[0], (uintptr_t)&chunks[1] };
	union drm_amdgpu_cs cs = { .in = {
					   .ctx_id = context,
					   .num_chunks = 2,
					   .chunks = (uintptr_t)pointers,
				   } };
	int err = call(c, DRM_IOCTL_AMDGPU_CS, &cs);

	if (err)
		return fail("cs", err);
	*ret_seq = cs.out.handle;
	return 0;
}

/* 0 when the job has ended, -ETIMEDOUT when it has not in time, otherwise the job's own error. */
static int wait_job(struct client *c, uint32_t context, uint64_t seq)
{
	union drm_amdgpu_wait_cs wait = { .in = {
						  .handle = seq,
						  .timeout = (now_ms() + c->wait_ms) * NS_PER_MS,
						  .ip_type = c->ip_type,
						  .ctx_id = context,
					  } };
	int err = call(c, DRM_IOCTL_AMDGPU_WAIT_CS, &wait);

	if (err)
		return err;
	return wait.out.status ? -ETIMEDOUT : 0;
}

static int mode_submit(struct client *c, uint64_t count)
{
	uint32_t context = 0;
	struct buffer ib;
	int err, result = 0;

	err = ib_new(c, &ib);
	if (!err)
		err = context_new(c, &context);
	for (uint64_t i = 0; !err && i < count; i++) {
		uint64_t seq = 0, begin = now_ms();

		err = submit(c, context, &ib, &seq);
		if (err)
			break;
		result = wait_job(c, context, seq);
		printf("job n=%" PRIu64 " handle=%" PRIu64 " result=%d (%s) ms=%" PRIu64 "\n",
		       i + 1, seq, -result, result ? strerrorname_np(-result) : "done",
		       now_ms() - begin);
		sleep_ms(c->pace_ms);
	}
	if (!err)
		print_context(c, context);
	return err ? err : result;
}

/* A long prefill: each job takes longer than the one before it. */
static int mode_prefill(struct client *c, uint64_t first_ms, uint64_t step_ms, uint64_t count)
{
	FILE *slow = fopen(c->slow_path, "w");
	uint32_t context = 0;
	struct buffer ib;
	int err = slow ? ib_new(c, &ib) : fail(c->slow_path, -errno);

	if (!err)
		err = context_new(c, &context);
	for (uint64_t i = 0; !err && i < count; i++) {
		uint64_t seq = 0, begin = now_ms();

		rewind(slow);
		fprintf(slow, "%" PRIu64 "\n", first_ms + i * step_ms);
		fflush(slow);
		err = submit(c, context, &ib, &seq);
		if (!err)
			err = wait_job(c, context, seq);
		printf("job n=%" PRIu64 " ms=%" PRIu64 "\n", i + 1, now_ms() - begin);
	}
	if (slow) {
		rewind(slow);
		fprintf(slow, "0\n");
		fclose(slow);
	}
	return err;
}

/*
 * Keeps everything until the time has passed or SIGTERM arrives; 0 s keeps nothing. The driver gets
 * the name of an address space's process from its first job (amdgpu_vm_set_task_info, 6.1).
 */
static int hold(struct client *c)
{
	struct timespec t = { .tv_sec = (time_t)c->hold_s };
	int err = c->jobs ? mode_submit(c, c->jobs) : 0;

	print_usage(c);
	if (c->hold_s)
		nanosleep(&t, NULL);
	printf("released pid=%d\n", getpid());
	return err;
}

static int mode_hold(struct client *c, char **sizes)
{
	struct buffer b;
	int err;

	for (; *sizes; sizes++) {
		uint64_t size = strtoull(*sizes, NULL, 0);

		err = buffer_new(c, (size + 4095) / 4096 * 4096, AMDGPU_GEM_DOMAIN_VRAM, &b);
		if (err)
			return err;
		printf("bo handle=%u bytes=%" PRIu64 " va=0x%" PRIx64 "\n", b.handle, b.size, b.va);
	}
	return hold(c);
}

static int mode_fill(struct client *c, uint64_t count, uint64_t mib)
{
	uint64_t begin = now_ms();
	struct buffer b;
	int err;

	for (uint64_t i = 0; i < count; i++) {
		err = buffer_new(c, mib << 20, AMDGPU_GEM_DOMAIN_VRAM, &b);
		if (err)
			return err;
		sleep_ms(c->pace_ms);
	}
	printf("filled count=%" PRIu64 " bytes=%" PRIu64 " ms=%" PRIu64 "\n", count,
	       count * (mib << 20), now_ms() - begin);
	return hold(c);
}

static uint32_t ring_named(const char *name)
{
	if (!strcmp(name, "gfx"))
		return AMDGPU_HW_IP_GFX;
	return strcmp(name, "compute") ? AMDGPU_HW_IP_DMA : AMDGPU_HW_IP_COMPUTE;
}

static int parse(struct client *c, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "comm", required_argument, NULL, 'c' },
		{ "ring", required_argument, NULL, 'r' },
		{ "seconds", required_argument, NULL, 's' },
		{ "wait-ms", required_argument, NULL, 'w' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "slow", required_argument, NULL, 'S' },
		{ "pace-ms", required_argument, NULL, 'p' },
		{ "after", required_argument, NULL, 'a' },
		{ "ubatch-size", required_argument, NULL, 'm' },
		{ 0 },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "m:", longs, NULL)) != -1) {
		switch (opt) {
		case 'm':
			break; /* part of an engine's command line; nothing is read */
		case 'd':
			c->device = optarg;
			break;
		case 'c':
			c->comm = optarg;
			break;
		case 'a':
			c->after = optarg;
			break;
		case 'S':
			c->slow_path = optarg;
			break;
		case 's':
			c->hold_s = strtoull(optarg, NULL, 0);
			break;
		case 'w':
			c->wait_ms = strtoull(optarg, NULL, 0);
			break;
		case 'p':
			c->pace_ms = strtoull(optarg, NULL, 0);
			break;
		case 'j':
			c->jobs = strtoull(optarg, NULL, 0);
			break;
		case 'r':
			c->ip_type = ring_named(optarg);
			break;
		default:
			return -EINVAL;
		}
	}
	return 0;
}

static int run(struct client *c, int count, char **words)
{
	if (count >= 2 && !strcmp(words[0], "hold"))
		return mode_hold(c, words + 1);
	if (count == 3 && !strcmp(words[0], "fill"))
		return mode_fill(c, strtoull(words[1], NULL, 0), strtoull(words[2], NULL, 0));
	if (count == 2 && !strcmp(words[0], "submit"))
		return mode_submit(c, strtoull(words[1], NULL, 0));
	if (count == 1 && !strcmp(words[0], "hang"))
		return mode_submit(c, 1);
	if (count == 4 && !strcmp(words[0], "prefill"))
		return mode_prefill(c, strtoull(words[1], NULL, 0), strtoull(words[2], NULL, 0),
				    strtoull(words[3], NULL, 0));
	fprintf(stderr,
		"usage: gpu-client [--device PATH] [--comm NAME] [--ring dma|gfx|compute]\n"
		"  [--seconds N] [--wait-ms N] [--jobs N] [-m MODEL] [--ubatch-size N]\n"
		"  [--slow FILE] [--pace-ms N] [--after FILE: begin when it exists]\n"
		"  hold BYTES... | fill COUNT MIB_EACH | submit COUNT | hang |\n"
		"  prefill FIRST_MS STEP_MS COUNT\n"
		"hold and fill (with a pause after each buffer, or job) do --jobs, then keep the\n"
		"memory for --seconds or until SIGTERM;\n"
		"hang is one job, for rings that stand still; prefill's jobs take longer each\n"
		"time: the injector's parameter slow_ms (FILE) is set before each.\n");
	exit(2);
}

int main(int argc, char **argv)
{
	struct sigaction term = { .sa_handler = on_term };
	struct client c = {
		.next_va = VA_FIRST,
		.device = "/dev/dri/renderD128",
		.comm = "gpu-client",
		.ip_type = AMDGPU_HW_IP_DMA,
		.wait_ms = 20000,
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (parse(&c, argc, argv))
		return 2;
	prctl(PR_SET_NAME, c.comm);
	sigaction(SIGTERM, &term, NULL);
	c.fd = open(c.device, O_RDWR | O_CLOEXEC);
	if (c.fd < 0) {
		fprintf(stderr, "gpu-client: cannot open '%s': %s\n", c.device, strerror(errno));
		return 1;
	}
	printf("pid=%d comm=%s device=%s\n", getpid(), c.comm, c.device);
	while (c.after && access(c.after, F_OK))
		sleep_ms(20);
	if (!run(&c, argc - optind, argv + optind))
		return 0;
	usleep(500000); /* an engine that fails also unwinds for a while */
	return 1;
}
