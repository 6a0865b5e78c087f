// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes that obstruct an agent, as user nobody:
 *   hostile hang DIR      a FUSE file system, mounted on DIR, whose only file is never read to
 *                         its end; "llama-server" with a page of it under mmap_lock: a reader
 *                         of /proc/PID/cmdline, environ or maps waits for the file system
 *   hostile storm FILES   "llama-server" with that many open files, which forks without end
 * Prints its pid when ready; "hang" prints the pid of its file system before. Ends by a signal;
 * "hang" ends when its file system has ended. Until then ps and pgrep hang, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY	   65534
#define FILE_INO   2
#define SIZE	   (64 * 1024)
#define CHILDREN   64
#define OUT(reply) (int)sizeof(reply), &(reply)

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void become_nobody(void)
{
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		fail("setresuid");
}

static void answer(int fuse, uint64_t unique, int error, int size, const void *data)
{
	char out[1024] = { 0 };
	struct fuse_out_header head = { .len = (uint32_t)(sizeof(head) + (error ? 0 : size)),
					.error = -error,
					.unique = unique };

	memcpy(out, &head, sizeof(head));
	memcpy(out + sizeof(head), data, (size_t)size);
	if (write(fuse, out, head.len) < 0 && errno != ENOENT)
		exit(0);
}

static struct fuse_attr attributes(uint64_t ino)
{
	return (struct fuse_attr){ .ino = ino,
				   .size = SIZE,
				   .mode = ino == FILE_INO ? S_IFREG | 0444 : S_IFDIR | 0555,
				   .nlink = 1 };
}

/* Answers everything but FUSE_READ. */
static void serve(int fuse)
{
	static char in[256 * 1024];
	struct fuse_in_header *head = (struct fuse_in_header *)in;

	while (read(fuse, in, sizeof(in)) > 0) {
		struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
					      .minor = FUSE_KERNEL_MINOR_VERSION,
					      .max_write = 4096 };
		struct fuse_entry_out entry = { .nodeid = FILE_INO, .attr = attributes(FILE_INO) };
		struct fuse_attr_out attr = { .attr = attributes(head->nodeid) };
		struct fuse_open_out opened = { 0 };

		switch (head->opcode) {
		case FUSE_INIT:
			answer(fuse, head->unique, 0, OUT(init));
			break;
		case FUSE_LOOKUP:
			answer(fuse, head->unique, 0, OUT(entry));
			break;
		case FUSE_GETATTR:
			answer(fuse, head->unique, 0, OUT(attr));
			break;
		case FUSE_OPEN:
			answer(fuse, head->unique, 0, OUT(opened));
			break;
		case FUSE_READ:
		case FUSE_FORGET:
		case FUSE_INTERRUPT:
			break;
		default:
			answer(fuse, head->unique, ENOSYS, 0, "");
		}
	}
	exit(0);
}

static void mount_it(const char *dir)
{
	char options[128];
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	pid_t server;

	if (fuse < 0)
		exit(77);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fuse);
	if (mount("davylamp-test", dir, "fuse", MS_NOSUID | MS_NODEV, options))
		exit(77);
	server = fork();
	if (!server) {
		prctl(PR_SET_NAME, "fuse-server");
		serve(fuse);
	}
	printf("%d\n", (int)server);
	fflush(stdout);
	close(fuse);
}

static void begin_again(char *self, const char *word, const char *value)
{
	char *argv[] = { (char *)"llama-server", (char *)"-m",	(char *)"x.gguf",
			 (char *)word,		 (char *)value, NULL };

	become_nobody();
	execv(self, argv);
	fail(self);
}

static char *page; /* of the file that is never read to its end */
static volatile pid_t holds, waits;
static volatile bool go_on;

/* Holds mmap_lock for reading while the kernel waits for the page (access_remote_vm). */
static void *hold_lock(void *arg)
{
	int fd = open("/proc/self/mem", O_RDONLY);
	char byte;

	holds = gettid();
	if (pread(fd, &byte, 1, (off_t)(uintptr_t)page) < 0)
		perror("/proc/self/mem");
	return arg;
}

/* Waits for mmap_lock for writing: later readers wait behind it. */
static void *want_lock(void *arg)
{
	while (!go_on)
		usleep(1000);
	waits = gettid();
	mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return arg;
}

static void until_it_sleeps(volatile pid_t *thread)
{
	char path[64], text[256] = "";

	for (int i = 0; i < 1000; i++) {
		int fd;

		usleep(10000);
		if (!*thread)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", *thread);
		fd = open(path, O_RDONLY);
		if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && !strstr(text, ") R "))
			return;
		close(fd);
	}
	fprintf(stderr, "mmap_lock is not held\n");
	exit(1);
}

static void hang(char **argv)
{
	char path[256];
	pthread_t thread;
	int fd;

	snprintf(path, sizeof(path), "%s/file", argv[4]);
	fd = open(path, O_RDONLY);
	page = fd < 0 ? MAP_FAILED : mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		fail(path);
	/* both begin now: pthread_create() maps a stack */
	if (pthread_create(&thread, NULL, want_lock, NULL) ||
	    pthread_create(&thread, NULL, hold_lock, NULL))
		fail("pthread_create");
	until_it_sleeps(&holds);
	go_on = true;
	until_it_sleeps(&waits);
	snprintf(path, sizeof(path), "%d\n", (int)getpid());
	if (write(1, path, strlen(path)) < 0)
		fail("write");
	for (;;)
		pause();
}

static void storm(int files)
{
	int alive = 0;

	for (int i = 0; i < files; i++)
		if (open("/dev/null", O_RDONLY) < 0)
			break;
	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (;;) {
		pid_t pid = alive < CHILDREN ? fork() : -1;

		if (!pid) {
			usleep(20000);
			_exit(0);
		}
		alive += pid > 0;
		if (pid < 0 && wait(NULL) > 0)
			alive--;
	}
}

int main(int argc, char **argv)
{
	struct rlimit files = { 65536, 65536 };

	if (argc == 5 && !strcmp(argv[3], "--hang"))
		hang(argv);
	if (argc == 5 && !strcmp(argv[3], "--storm"))
		storm(atoi(argv[4]));
	if (argc != 3)
		return 2;
	if (!strcmp(argv[1], "hang")) {
		mount_it(argv[2]);
		begin_again(argv[0], "--hang", argv[2]);
	}
	setrlimit(RLIMIT_NOFILE, &files);
	begin_again(argv[0], "--storm", argv[2]);
}
