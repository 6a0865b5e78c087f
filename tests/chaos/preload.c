// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library that is preloaded into the agent for the fault campaign. It fails allocations, delays
 * writes to files, and moves the wall clock, as a page shared with the test script orders.
 *
 * DAVYLAMP_CHAOS_PAGE names the file of the page, DAVYLAMP_CHAOS_LOG a file that gets one line for
 * each failed allocation. The library is idle in every program but "davylamp run".
 *
 * An allocation site is the chain of return addresses from the allocator's caller up to the first
 * one in the agent's own program. Each site fails at most once for one page.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SITES_MAX 16384
#define DEPTH_MAX 24

/* Offsets are known to tests/chaos/lib.sh. */
struct page {
	uint64_t armed;	      /* number of sites that will fail */
	uint64_t skip;	      /* sites to pass before the next failure */
	uint64_t failed;      /* allocations that failed */
	uint64_t seen;	      /* sites that were passed */
	uint64_t allocations; /* all calls */
	uint64_t sync_us;     /* delay of fsync and fdatasync */
	uint64_t write_us;    /* delay of pwrite */
	int64_t wall_s;	      /* added to the wall clock */
	uint64_t round;	      /* in which a site counts once for skip; 0 to 255 */
	uint64_t site[SITES_MAX];
	uint8_t has_failed[SITES_MAX];
	uint8_t met[SITES_MAX]; /* the last round in which the site counted */
};

_Static_assert(offsetof(struct page, wall_s) == 56, "tests/chaos/lib.sh writes at these offsets");

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

static struct page *page;
static int log_fd = -1;
static uintptr_t text_begin, text_end;
static _Thread_local int container_path;

static int find_text(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		text_begin = info->dlpi_addr + p->p_vaddr;
		text_end = text_begin + p->p_memsz;
	}
	return 1; /* the first object is the program */
}

static int is_agent(void)
{
	char text[256] = "";
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	return n > 0 && !strcmp(text + strlen(text) + 1, "run");
}

__attribute__((constructor)) static void preload_open(void)
{
	const char *path = getenv("DAVYLAMP_CHAOS_PAGE"), *log = getenv("DAVYLAMP_CHAOS_LOG");
	void *frames[2];
	void *mapped;
	int fd;

	if (!path || !is_agent())
		return;
	fd = open(path, O_RDWR | O_CLOEXEC);
	mapped = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (mapped == MAP_FAILED)
		return;
	if (log) /* far from the descriptor numbers that the tests count */
		fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	log_fd = log ? fcntl(fd, F_DUPFD_CLOEXEC, 200) : -1;
	close(fd);
	container_path = 1;
	dl_iterate_phdr(find_text, NULL);
	backtrace(frames, 2); /* it loads the unwinder */
	container_path = 0;
	page = mapped;
}

static void log_site(void *const *frames, int count)
{
	char line[1024];
	int n = snprintf(line, sizeof(line),
			 "allocation %llu failed:", (unsigned long long)page->allocations);

	for (int i = 0; i < count && n < (int)sizeof(line) - 100; i++) {
		Dl_info info;
		const char *name;

		if (!dladdr(frames[i], &info) || !info.dli_fname)
			continue;
		name = strrchr(info.dli_fname, '/');
		n += snprintf(line + n, sizeof(line) - (size_t)n, " %.40s+0x%lx",
			      name ? name + 1 : info.dli_fname,
			      (unsigned long)((char *)frames[i] - (char *)info.dli_fbase));
	}
	line[n++] = '\n';
	if (log_fd >= 0)
		(void)!write(log_fd, line, (size_t)n);
}

/* Index of the site in the table, which it joins; SITES_MAX when the table is full. */
static size_t find_site(uint64_t key)
{
	for (size_t i = key % SITES_MAX, n = 0; n < SITES_MAX; n++, i = (i + 1) % SITES_MAX) {
		if (page->site[i] == key)
			return i;
		if (page->site[i])
			continue;
		page->site[i] = key;
		page->seen++;
		return i;
	}
	return SITES_MAX;
}

static int preload_fails(void)
{
	void *frames[DEPTH_MAX];
	uint64_t key = 14695981039346656037ULL;
	int count, end;
	size_t i;

	if (!page || container_path)
		return 0;
	__atomic_add_fetch(&page->allocations, 1, __ATOMIC_RELAXED);
	if (!page->armed)
		return 0;
	container_path = 1;
	count = backtrace(frames, DEPTH_MAX);
	for (end = 2; end < count; end++) { /* 0 and 1 are this library's own */
		Dl_info info;

		if (dladdr(frames[end], &info))
			key = (key ^ (uint64_t)((char *)frames[end] - (char *)info.dli_fbase)) *
			      1099511628211ULL;
		if ((uintptr_t)frames[end] >= text_begin && (uintptr_t)frames[end] < text_end)
			break;
	}
	i = find_site(key | 1);
	if (i == SITES_MAX || page->has_failed[i])
		goto no;
	if (page->skip) {
		page->skip -= page->met[i] != (uint8_t)page->round;
		page->met[i] = (uint8_t)page->round;
		goto no;
	}
	page->has_failed[i] = 1;
	page->failed++;
	page->armed--;
	log_site(frames + 2, (end < count ? end + 4 < count ? end + 4 : count : count) - 2);
	container_path = 0;
	errno = ENOMEM;
	return 1;
no:
	container_path = 0;
	return 0;
}

__attribute__((noinline)) void *malloc(size_t size)
{
	return preload_fails() ? NULL : __libc_malloc(size);
}

__attribute__((noinline)) void *calloc(size_t count, size_t size)
{
	return preload_fails() ? NULL : __libc_calloc(count, size);
}

__attribute__((noinline)) void *realloc(void *p, size_t size)
{
	return preload_fails() ? NULL : __libc_realloc(p, size);
}

__attribute__((noinline)) void *reallocarray(void *p, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || preload_fails()) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(p, bytes);
}

__attribute__((noinline)) void *aligned_alloc(size_t align, size_t size)
{
	return preload_fails() ? NULL : __libc_memalign(align, size);
}

__attribute__((noinline)) int posix_memalign(void **ret, size_t align, size_t size)
{
	void *p = preload_fails() ? NULL : __libc_memalign(align, size);

	if (!p)
		return ENOMEM;
	*ret = p;
	return 0;
}

static void delay(uint64_t us)
{
	struct timespec left = { .tv_sec = (time_t)(us / 1000000),
				 .tv_nsec = (long)(us % 1000000 * 1000) };

	while (us && nanosleep(&left, &left) && errno == EINTR)
		;
}

/* The address is looked up at the first call: a symbol that libc lacks must not prevent loading. */
#define NEXT(name)                                                                                 \
	({                                                                                         \
		static __typeof__(&name) next;                                                     \
		if (!next) {                                                                       \
			container_path++;                                                          \
			next = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                         \
			container_path--;                                                          \
		}                                                                                  \
		next;                                                                              \
	})

int fsync(int fd)
{
	if (page)
		delay(page->sync_us);
	return NEXT(fsync)(fd);
}

int fdatasync(int fd)
{
	if (page)
		delay(page->sync_us);
	return NEXT(fdatasync)(fd);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	if (page)
		delay(page->write_us);
	return NEXT(pwrite)(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
	if (page)
		delay(page->write_us);
	return NEXT(pwrite64)(fd, data, size, at);
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int err = NEXT(clock_gettime)(clock, ret);

	if (!err && page && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		ret->tv_sec += page->wall_s;
	return err;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
	int err = NEXT(gettimeofday)(ret, zone);

	if (!err && page)
		ret->tv_sec += page->wall_s;
	return err;
}

time_t time(time_t *ret)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (ret)
		*ret = now.tv_sec;
	return now.tv_sec;
}
