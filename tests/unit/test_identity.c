/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes in a test /proc and /sys: containers, devices, blobs, hostile names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/file.h"
#include "sensors/proc/device_node.h"
#include "sensors/proc/container_path.h"
#include "sensors/proc/model_file.h"
#include "sensors/proc/ollama_name.h"
#include "sensors/proc/process_info.h"

#define DIGEST "74701a8c35f6c8d9a4b91f3f3497643001d63e0c7a84e085bed452548fa88d45"
#define ID     "3f4e1d9c0b7a58e6d2f1c4b3a69788775a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d"

static void put_link(const char *name, const char *target)
{
	char path[512];

	PUT("/made", "");
	snprintf(path, sizeof(path), "%s%s", root, name);
	*strrchr(path, '/') = 0;
	davy_make_dirs(path);
	path[strlen(path)] = '/';
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
}

static void put_process(unsigned int pid, unsigned int ppid, const char *comm, const char *cmdline,
			size_t size)
{
	char name[64], text[256];
	int n;

	snprintf(name, sizeof(name), "/proc/%u/stat", pid);
	n = snprintf(text, sizeof(text),
		     "%u (%s) S %u 1 1 0 -1 1 1 2 3 4 5 6 7 8 20 0 1 0 %u 1 2\n", pid, comm, ppid,
		     pid * 10);
	put(name, text, (size_t)n);
	snprintf(name, sizeof(name), "/proc/%u/comm", pid);
	n = snprintf(text, sizeof(text), "%s\n", comm);
	put(name, text, (size_t)n);
	snprintf(name, sizeof(name), "/proc/%u/cmdline", pid);
	put(name, cmdline, size);
}

#define PROCESS(pid, ppid, comm, cmdline) put_process(pid, ppid, comm, cmdline, sizeof(cmdline) - 1)

/* A head of architecture "llama", type Q8_0, context 2048, two layers. */
static void put_model(const char *name)
{
	static const char model[] =
		"GGUF\3\0\0\0\0\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0"
		"\24\0\0\0\0\0\0\0general.architecture\10\0\0\0\5\0\0\0\0\0\0\0llama"
		"\21\0\0\0\0\0\0\0general.file_type\4\0\0\0\7\0\0\0"
		"\24\0\0\0\0\0\0\0llama.context_length\4\0\0\0\0\10\0\0"
		"\21\0\0\0\0\0\0\0llama.block_count\4\0\0\0\2\0\0\0";

	put(name, model, sizeof(model) - 1);
}

/* The mount on which our folder lies, as the real kernel names it. */
static void put_mounts(unsigned int pid)
{
	char text[65536], name[64];
	ssize_t n = davy_read_file("/proc/self/mountinfo", text, sizeof(text));

	snprintf(name, sizeof(name), "/proc/%u/mountinfo", pid);
	put(name, text, n > 0 ? (size_t)n : 0);
}

static void a_model_is_read_inside_of_the_process_own_root(void **state)
{
	struct davy_process_info info;

	(void)state;
	PROCESS(100, 1, "llama-server",
		"llama-server\0-m\0model.gguf\0-ub\0"
		"32\0");
	put_mounts(100);
	put_model("/proc/100/root/data/real.gguf");
	put_link("/proc/100/root/models/model.gguf", "/data/real.gguf"); /* absolute, inside */
	put_link("/proc/100/cwd", "/models");
	PUT("/proc/100/environ", "A=b\0LLAMA_ARG_N_PARALLEL=4\0");
	PUT("/proc/100/status", "Name:\tllama-server\nTgid:\t100\nNSpid:\t100\t20\t1\n");
	PUT("/proc/100/cgroup", "0::/system.slice/docker-" ID ".scope\n");
	assert_int_equal(davy_process_info_read(100, &info), 0);
	assert_int_equal(info.ev.engine, DAVY_ENGINE_LLAMA_SERVER);
	assert_string_equal(info.ev.model, "model.gguf");
	assert_string_equal(info.ev.architecture, "llama");
	assert_string_equal(info.ev.quantisation, "Q8_0");
	assert_int_equal(info.ev.context_size, 2048); /* not set: the model's */
	assert_true(info.ev.flags & DAVY_PROCESS_CONTEXT_ASSUMED);
	assert_int_equal(info.ev.ubatch, 32);
	assert_int_equal(info.ev.parallel, 4);
	assert_int_equal(info.ev.inner_pid, 1);
	assert_int_equal(info.ev.runtime, DAVY_RUNTIME_DOCKER);
	assert_string_equal(info.ev.container, ID);
	assert_int_equal(davy_process_of_thread(100), 100);
}

static void nothing_outside_of_the_root_is_read(void **state)
{
	struct davy_model_facts m;
	struct davy_model_where where = { 101, "/up.gguf", "", NULL };
	char path[512];

	(void)state;
	PROCESS(101, 1, "llama-server", "llama-server\0-m\0/up.gguf\0");
	put_mounts(101);
	put_model("/outside.gguf");
	put_link("/proc/101/root/up.gguf", "../../../outside.gguf");
	assert_int_equal(davy_model_file_read(&where, &m), -ENOENT);
	where.path = "/../../../outside.gguf";
	assert_int_equal(davy_model_file_read(&where, &m), -ENOENT);
	where.path = "/proc"; /* a folder */
	PUT("/proc/101/root/proc/x", "");
	assert_int_equal(davy_model_file_read(&where, &m), -EACCES);
	snprintf(path, sizeof(path), "%s/proc/101/root/pipe.gguf", root);
	assert_int_equal(mkfifo(path, 0600), 0);
	where.path = "/pipe.gguf"; /* would be waited for */
	assert_int_equal(davy_model_file_read(&where, &m), -EACCES);
	where.path = "/text.gguf";
	PUT("/proc/101/root/text.gguf", "no model, whatever its name says");
	assert_int_equal(davy_model_file_read(&where, &m), -EINVAL);
	where.path = NULL;
	assert_int_equal(davy_model_file_read(&where, &m), -ENOENT);
}

/* The mount of the test directory, with this type in the process's list. */
static void put_mount(unsigned int pid, const char *type, const char *options)
{
	char name[64], text[1024];
	struct statx st;
	int n;

	assert_int_equal(statx(AT_FDCWD, root, 0, STATX_MNT_ID, &st), 0);
	snprintf(name, sizeof(name), "/proc/%u/mountinfo", pid);
	n = snprintf(text, sizeof(text),
		     "1 0 0:5 / /proc rw - proc proc rw\n"
		     "%llu 1 0:77 / / rw,relatime shared:1 master:2 - %s source rw%s\n",
		     (unsigned long long)st.stx_mnt_id, type, options);
	put(name, text, (size_t)n);
}

static void only_local_file_systems_are_read(void **state)
{
	/* clang-format off */
	static const char *const local[] = { "ext4", "xfs", "btrfs", "zfs", "tmpfs", "squashfs" };
	static const char *const waiting[] = {
		"fuse", "fuseblk", "fuse.sshfs", "fusectl", "nfs4", "cifs", "ceph", "9p",
		"virtiofs", "ext", "fuse.ext4", "ext44", "overlay", "autofs",
	};
	/* clang-format on */
	struct davy_model_where where = { 102, "/m.gguf", "", NULL };
	struct davy_model_facts m;
	char mapped[256];

	(void)state;
	put_model("/proc/102/root/m.gguf");
	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++) {
		put_mount(102, local[i], "");
		assert_int_equal(davy_model_file_read(&where, &m), 0);
	}
	snprintf(mapped, sizeof(mapped), "%s/proc/102/map_files/1-2", root);
	put_link("/proc/102/map_files/1-2", "../root/m.gguf");
	for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++) {
		put_mount(102, waiting[i], "");
		where.mapped = "";
		assert_int_equal(davy_model_file_read(&where, &m), -EAGAIN);
		where.mapped = mapped;
		assert_int_equal(davy_model_file_read(&where, &m), -EAGAIN);
	}
	put_mount(102, "ext4", "");
	where.path = NULL;
	assert_int_equal(davy_model_file_read(&where, &m), 0);
	assert_string_equal(m.architecture, "llama");
}

static void a_model_that_was_deleted_is_read_still(void **state)
{
	struct davy_process_info info;

	(void)state;
	PROCESS(105, 1, "llama-server", "llama-server\0-m\0/m/gone.gguf\0");
	put_mounts(105);
	PUT("/proc/105/maps", "1-2 r--s 0 08:01 5 /m/gone.gguf (deleted)\n");
	put_model("/proc/105/root/inode");
	put_link("/proc/105/map_files/1-2", "../root/inode");
	assert_int_equal(davy_process_info_read(105, &info), 0);
	assert_string_equal(info.ev.model, "gone.gguf");
	assert_string_equal(info.ev.architecture, "llama");
}

#define LOWER ",lowerdir=/var/lib/docker/overlay2/l/AB:/var/lib/docker/overlay2/l/CD"

/* An overlay is as local as its layers, where root mounted it. */
static void a_container_is_as_local_as_its_layers(void **state)
{
	static const char host[] =
		"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
		"2 1 0:50 / /srv rw - nfs4 server:/ rw\n"
		"3 1 8:2 / /var/lib/docker rw - xfs /dev/sdb rw\n"
		"4 1 0:77 / /var/lib/docker/overlay2/x/merged rw - overlay overlay rw";
	static const struct {
		const char *options;
		int err;
	} cases[] = {
		{ LOWER ",upperdir=/var/lib/docker/overlay2/x/diff,workdir=/work", 0 },
		{ ",lowerdir=../l/AB:../l/CD,upperdir=diff,workdir=work,index=off", 0 },
		{ ",lowerdir+=/a,lowerdir+=/b,datadir+=/c,upperdir=/d", 0 },
		{ LOWER ":/srv/x,upperdir=/var/lib/docker/overlay2/x/diff", -EAGAIN },
		{ LOWER ",upperdir=/srv", -EAGAIN },
		{ ",lowerdir+=/a,lowerdir+=/srv/b", -EAGAIN },
		{ ",lowerdir=/a::/srv/data", -EAGAIN },
		{ ",lowerdir=/a\\134:b", -EAGAIN },
		{ ",lowerdir=/var/lib/docker/overlay2/x/merged", -EAGAIN }, /* one of an overlay */
		{ ",workdir=/work", -EAGAIN },
	};
	struct davy_model_where where = { 103, "/m.gguf", "", NULL };
	struct davy_model_facts m;
	char text[2048];

	(void)state;
	put_model("/proc/103/root/m.gguf");
	put_mount(103, "overlay", LOWER);
	assert_int_equal(davy_model_file_read(&where, &m), -EAGAIN); /* a user's own */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int n = snprintf(text, sizeof(text), "%s%s\n", host, cases[i].options);

		put("/proc/1/mountinfo", text, (size_t)n);
		put_mount(103, "overlay", cases[i].options);
		if (davy_model_file_read(&where, &m) != cases[i].err)
			fail_msg("'%s' is not %d", cases[i].options, cases[i].err);
	}
}

/* Name by name it ends where the kernel ends, and never outside. */
static void a_walk_ends_where_the_kernel_does(void **state)
{
	static const char *const paths[] = {
		"/data/real.gguf",
		"/models/model.gguf",
		"//models/./../models//model.gguf",
		"/in/../data/real.gguf",
		"/in/deep/real.gguf",
		"/../../../data/real.gguf",
		"/up",
		"/none",
		"/data/real.gguf/x",
		"/loop",
		"/loops/a",
		"/models/out.gguf",
		"/",
	};
	char path[512];
	int dir;

	(void)state;
	put_mounts(104);
	put_model("/proc/104/root/data/real.gguf");
	put_model("/proc/104/outside.gguf");
	put_link("/proc/104/root/models/model.gguf", "/data/real.gguf");
	put_link("/proc/104/root/in/deep", "../data");
	put_link("/proc/104/root/up", "../../outside.gguf");
	put_link("/proc/104/root/models/out.gguf", "/../outside.gguf");
	put_link("/proc/104/root/loop", "loop");
	put_link("/proc/104/root/loops/a", "../loops/b");
	put_link("/proc/104/root/loops/b", "/loops/a");
	snprintf(path, sizeof(path), "%s/proc/104/root", root);
	dir = open(path, O_PATH | O_DIRECTORY);
	assert_true(dir >= 0);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		int one = davy_open_in_root(104, paths[i]), other;
		struct stat a = { 0 }, b = { 0 };

		other = davy_walk_in_root(104, dir, paths[i]);
		if (one >= 0 && other >= 0)
			assert_true(!fstat(one, &a) && !fstat(other, &b));
		if ((one < 0 || other < 0) ? one != other : a.st_ino != b.st_ino)
			fail_msg("'%s' is %d, and %d by names", paths[i], one, other);
		close(one);
		close(other);
	}
	put_mount(104, "nfs", "");
	assert_int_equal(davy_walk_in_root(104, dir, "/models/model.gguf"), -EAGAIN); /* a link */
	close(dir);
}

#define OLLAMA "/proc/110/root/home/o/.ollama/models/manifests/registry.ollama.ai/"

static const char manifest[] =
	"{\"layers\":[{\"mediaType\":\"application/vnd.ollama.image.license\",\"digest\":\"a\"},"
	"{\"mediaType\":\"application/vnd.ollama.image.model\",\"digest\":\"sha256:" DIGEST "\"}]}";

static void a_blob_has_ollamas_name_of_the_model(void **state)
{
	struct davy_process_info info;
	char name[96], path[512];

	(void)state;
	PROCESS(109, 1, "ollama", "/usr/bin/ollama\0serve\0");
	PROCESS(110, 109, "llama-server",
		"/usr/lib/ollama/llama-server\0--model\0/home/o/.ollama/models/blobs/sha256-" DIGEST
		"\0--port\0"
		"4000\0-c\0"
		"8192\0-np\0"
		"2\0-b\0"
		"256\0-ub\0"
		"256\0");
	put_mounts(110);
	put_model("/proc/110/root/home/o/.ollama/models/blobs/sha256-" DIGEST);
	PUT(OLLAMA "library/zeta/latest", manifest);
	PUT(OLLAMA "library/lamp/1b", manifest);
	PUT(OLLAMA "library/b/x", "{]");
	PUT("/proc/110/root/home/o/.ollama/models/manifests/stray", manifest);
	PUT("/proc/110/root/home/o/.ollama/models/manifests/a/b/c/d/too-deep", manifest);
	snprintf(path, sizeof(path), "%s%s", root, OLLAMA "library/a");
	davy_make_dirs(path);
	strcat(path, "/pipe"); /* an open would wait for a writer */
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10);
	assert_int_equal(davy_process_info_read(110, &info), 0);
	alarm(0);
	assert_int_equal(info.ev.engine, DAVY_ENGINE_OLLAMA_RUNNER);
	assert_int_equal(info.ev.role, DAVY_ROLE_RUNNER);
	assert_string_equal(info.ev.model, "lamp:1b");
	assert_int_equal(info.ev.context_size, 8192);
	assert_int_equal(info.ev.ubatch, 256);
	unlink(strcat(strcpy(path, root), OLLAMA "library/lamp/1b")); /* ollama rm */
	assert_int_equal(davy_process_info_read(110, &info), 0);
	assert_string_equal(info.ev.model, "zeta:latest");
	PUT("/proc/111/root/m/manifests/hf.co/user/model-GGUF/Q4_K_M", manifest);
	put_mounts(111);
	assert_int_equal(davy_ollama_name(111, "/m", DIGEST, name, sizeof(name)), 0);
	assert_string_equal(name, "hf.co/user/model-GGUF:Q4_K_M");
	PUT("/proc/111/root/m/manifests/registry.ollama.ai/user/own/latest", manifest);
	assert_int_equal(davy_ollama_name(111, "/m", DIGEST, name, 10), 0);
	assert_string_equal(name, "hf.co/use");
	assert_int_equal(davy_ollama_name(111, "/none", DIGEST, name, sizeof(name)), -ENOENT);
	assert_int_equal(davy_ollama_name(111, "/m", "00", name, sizeof(name)), -ENOENT);
	assert_false(davy_ollama_manifest_has("[[[[[[[", 7, DIGEST));
	assert_false(davy_ollama_manifest_has("{\"layers\":{\"digest\":1}}", 23, DIGEST));
	assert_true(davy_ollama_manifest_has(manifest, sizeof(manifest) - 1, DIGEST));
}

/* Without a driver ggml unloads its backend. Hidden by us, it is still one to go back to. */
static void backends_whose_drivers_are_hidden_count_as_installed(void **state)
{
	const uint32_t installed = 1u << DAVY_BACKEND_CPU | 1u << DAVY_BACKEND_VULKAN;
	struct davy_process_info info;
	char program[256];

	(void)state;
	PROCESS(130, 1, "llama-server", "llama-server\0-m\0a.gguf");
	PUT("/opt/engine/llama-server", "");
	PUT("/opt/engine/libggml-base.so", "");
	PUT("/opt/engine/libggml-vulkan.so", "");
	snprintf(program, sizeof(program), "%s/opt/engine/llama-server", root);
	assert_int_equal(chmod(program, 0755), 0);
	put_link("/proc/130/exe", program);
	PUT("/proc/130/maps", "7f00-7f10 r-xp 00000000 00:05 1 /opt/engine/libggml-base.so\n");
	PUT("/proc/130/environ", "VK_LOADER_DRIVERS_SELECT=*radeon*\0");
	assert_int_equal(davy_process_info_read(130, &info), 0);
	assert_int_equal(info.loaded_backends, 0);
	PUT("/proc/130/environ", "VK_LOADER_DRIVERS_SELECT=none\0");
	assert_int_equal(davy_process_info_read(130, &info), 0);
	assert_int_equal(info.loaded_backends, installed);
}

static void a_worker_has_its_servers_arguments(void **state)
{
	struct davy_process_info info;

	(void)state;
	PROCESS(120, 1, "vllm",
		"/usr/bin/python3\0/usr/bin/vllm\0serve\0org/m\0--max-model-len\0"
		"4096\0");
	PROCESS(121, 120, "VLLM::EngineCor", "VLLM::EngineCore");
	PROCESS(122, 121, "VLLM::Worker_TP", "VLLM::Worker_TP0");
	assert_int_equal(davy_process_info_read(122, &info), 0);
	assert_int_equal(info.ev.engine, DAVY_ENGINE_VLLM);
	assert_int_equal(info.ev.role, DAVY_ROLE_RUNNER);
	assert_string_equal(info.ev.model, "org/m");
	assert_int_equal(info.ev.context_size, 4096);
	assert_int_equal(info.ev.port, 0);
	PROCESS(123, 123, "sglang",
		"sglang::scheduler_TP0"); /* its own parent: no endless way up */
	assert_int_equal(davy_process_info_read(123, &info), 0);
	assert_int_equal(info.ev.engine, DAVY_ENGINE_SGLANG);
	assert_string_equal(info.ev.model, "");
}

static void the_port_is_where_it_listens(void **state)
{
	struct davy_process_info info;

	(void)state;
	PROCESS(130, 1, "llama-server", "llama-server\0-m\0x.gguf\0");
	assert_int_equal(davy_process_info_read(130, &info), 0);
	assert_true(info.ev.flags & DAVY_PROCESS_PORT_ASSUMED);
	put_link("/proc/130/fd/3", "socket:[4711]");
	put_link("/proc/130/fd/4", "socket:[4712]");
#define QUEUES " 00000000:00000000 00:00000000 00000000  0 0 "
	PUT("/proc/130/net/tcp", "  sl  local_address rem_address   st tx_queue rx_queue\n"
				 "   0: 0100007F:0016 00000000:0000 0A" QUEUES "1 1\n"
				 "   1: 0100007F:26CB 00000000:0000 0A" QUEUES "4711 1\n"
				 "   2: 0100007F:0001 00000000:0000 01" QUEUES "4712 1\n"
				 "garbage\n");
	assert_int_equal(davy_process_info_read(130, &info), 0);
	assert_int_equal(info.ev.port, 0x26cb);
	assert_false(info.ev.flags & DAVY_PROCESS_PORT_ASSUMED);
}

static void put_node(const char *name, unsigned int node_major, unsigned int node_minor)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s", root, name);
	if (mknod(path, S_IFCHR | 0600, makedev(node_major, node_minor)))
		skip(); /* not root */
}

/* Whatever a container calls its device files. fdinfo is not read: it can block. */
static void devices_are_recognised_by_number_and_memory(void **state)
{
	struct davy_used_devices used = { .device = { { "0000:03:00.0", 12 << 10 },
						      { "0000:63:00.0", 2048ULL << 20 },
						      { "0000:99:00.0", 4096ULL << 20 } },
					  .count = 3 };
	struct davy_process_info info;
	char target[512];

	(void)state;
	PROCESS(140, 1, "llama-server", "llama-server\0-m\0x.gguf\0");
	PUT("/proc/140/maps", "1-2 r-xp 0 08:01 5 /usr/lib/libggml-vulkan.so\n");
	put_node("/gpu-a", 226, 128);
	put_node("/gpu-b", 226, 129);
	for (int i = 0; i < 2; i++) {
		snprintf(target, sizeof(target), "%s/gpu-%c", root, 'a' + i);
		put_link(i ? "/proc/140/fd/8" : "/proc/140/fd/7", target);
		snprintf(target, sizeof(target), "%s/proc/140/fdinfo", root);
		davy_make_dirs(target);
		strcat(target, i ? "/8" : "/7");
		assert_int_equal(mkfifo(target, 0600), 0);
	}
	put_link("/sys/dev/char/226:128/device", "../../../0000:03:00.0");
	put_link("/sys/dev/char/226:129/device", "../../../0000:63:00.0");
	alarm(10);
	assert_int_equal(davy_process_info_read(140, &info), 0);
	alarm(0);
	assert_int_equal(info.ev.backend, DAVY_BACKEND_VULKAN);
	assert_true(info.ev.device[0] && info.ev.more_devices[0][0]); /* which one is unknown */
	assert_false(info.device_used);
	assert_int_equal(davy_process_info_look(140, DAVY_LOOK_COMMAND, &used, &info), 0);
	assert_string_equal(info.ev.device, "0000:63:00.0");
	assert_string_equal(info.ev.more_devices[0], "");
	assert_true(info.opens_gpu && info.device_used);
	used.device[0].bytes = 3000ULL << 20;
	assert_int_equal(davy_process_info_look(140, DAVY_LOOK_COMMAND, &used, &info), 0);
	assert_string_equal(info.ev.device, "0000:03:00.0");
	assert_string_equal(info.ev.more_devices[0], "0000:63:00.0");
}

static void rocm_is_recognised_by_kfd_and_its_memory(void **state)
{
	struct davy_process_info info;
	char target[512];

	(void)state;
	PROCESS(141, 1, "llama-server", "llama-server\0-m\0x.gguf\0");
	PUT("/proc/141/maps", "1-2 r-xp 0 08:01 5 /usr/lib/libggml-vulkan.so\n"
			      "1-2 r-xp 0 08:01 5 /usr/lib/libggml-hip.so\n");
	put_node("/kfd", 511, 7);
	snprintf(target, sizeof(target), "%s/kfd", root);
	put_link("/proc/141/fd/9", target);
	put_link("/sys/dev/char/511:7", "../../devices/virtual/kfd/kfd");
	PUT("/sys/class/kfd/kfd/proc/141/vram_4321", "1048576\n");
	PUT("/sys/class/kfd/kfd/proc/141/vram_99", "0\n");
	PUT("/sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n");
	PUT("/sys/class/kfd/kfd/topology/nodes/1/gpu_id", "4321\n");
	PUT("/sys/class/kfd/kfd/topology/nodes/1/properties",
	    "cpu_cores_count 0\nlocation_id 25344\n"
	    "domain 0\n");
	assert_int_equal(davy_process_info_read(141, &info), 0);
	assert_int_equal(info.ev.backend, DAVY_BACKEND_ROCM);
	assert_string_equal(info.ev.device, "0000:63:00.0");
	PROCESS(142, 1, "train", "python3\0train.py\0");
	PUT("/proc/142/maps",
	    "1-2 r-xp 0 08:01 5 /v/libtorch_hip.so\n1-2 r-xp 0 08:01 5 /v/libamdhip64.so.6\n");
	put_link("/proc/142/fd/9", target);
	assert_int_equal(davy_process_info_read(142, &info), 0);
	assert_int_equal(info.ev.engine, DAVY_ENGINE_NONE);
	assert_int_equal(davy_process_info_look(142, DAVY_LOOK_DEVICES, NULL, &info), 0);
	assert_int_equal(info.ev.engine, DAVY_ENGINE_GENERIC);
	assert_int_equal(info.ev.backend, DAVY_BACKEND_ROCM);
}

static void nvidia_is_recognised_by_its_minor(void **state)
{
	char device[DAVY_DEVICE_LEN];

	(void)state;
	PUT("/proc/driver/nvidia/gpus/0000:65:00.0/information", "Model: x\nDevice Minor: \t 0\n");
	PUT("/proc/driver/nvidia/gpus/0000:66:00.0/information", "Model: x\nDevice Minor: \t 1\n");
	assert_int_equal(davy_device_node(195, 1, device), DAVY_NODE_NVIDIA);
	assert_string_equal(device, "0000:66:00.0");
	assert_int_equal(davy_device_node(195, 9, device), DAVY_NODE_NVIDIA);
	assert_string_equal(device, "");
	assert_int_equal(davy_device_node(195, 255, device), DAVY_NODE_OTHER);
	assert_int_equal(davy_device_node(1, 3, device), DAVY_NODE_OTHER);
}

static void half_a_process_gives_half_an_answer(void **state)
{
	static char many[200000];
	struct davy_process_info info;

	(void)state;
	PROCESS(150, 1, "llama-server",
		"llama-server\0-m\0/none.gguf\0-c\0"
		"100\0");
	assert_int_equal(davy_process_info_read(150, &info), 0); /* no maps, fds, environ, root */
	assert_int_equal(info.ev.engine, DAVY_ENGINE_LLAMA_SERVER);
	assert_int_equal(info.ev.backend, DAVY_BACKEND_UNKNOWN);
	assert_int_equal(info.ev.context_size, 100);
	assert_true(info.no_gpu);
	PROCESS(151, 1, "x", "");
	assert_int_equal(davy_process_info_look(151, DAVY_LOOK_DEVICES, NULL, &info), 0);
	assert_false(info.has_command);
	memset(many, 0, sizeof(many)); /* arguments without end */
	put_process(152, 1, "many", many, sizeof(many));
	assert_int_equal(davy_process_info_read(152, &info), 0);
	memset(many, 'x', sizeof(many));
	put_process(153, 1, "long", many, sizeof(many));
	put("/proc/153/status", many, sizeof(many));
	put("/proc/153/cgroup", many, sizeof(many));
	assert_int_equal(davy_process_info_read(153, &info), 0);
	assert_int_equal(davy_process_of_thread(153), 0);
	PUT("/proc/154/status", "Name:\tNSpid:\\n\t7\nTgid:\t154\nNSpid:\t154\n");
	assert_int_equal(davy_process_of_thread(154), 154);
	assert_int_equal(davy_process_of_thread(999999), 0);
	assert_int_equal(davy_process_start(150), 1500);
	assert_int_equal(davy_process_start(999999), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_is_read_inside_of_the_process_own_root),
		cmocka_unit_test(nothing_outside_of_the_root_is_read),
		cmocka_unit_test(only_local_file_systems_are_read),
		cmocka_unit_test(a_model_that_was_deleted_is_read_still),
		cmocka_unit_test(a_container_is_as_local_as_its_layers),
		cmocka_unit_test(a_walk_ends_where_the_kernel_does),
		cmocka_unit_test(a_blob_has_ollamas_name_of_the_model),
		cmocka_unit_test(backends_whose_drivers_are_hidden_count_as_installed),
		cmocka_unit_test(a_worker_has_its_servers_arguments),
		cmocka_unit_test(the_port_is_where_it_listens),
		cmocka_unit_test(devices_are_recognised_by_number_and_memory),
		cmocka_unit_test(rocm_is_recognised_by_kfd_and_its_memory),
		cmocka_unit_test(nvidia_is_recognised_by_its_minor),
		cmocka_unit_test(half_a_process_gives_half_an_answer),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
