/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Versions in the environment of an engine: driver and firmware from sysfs and debugfs, the engine
 * from its linker's build id; their common number, and its effect on the ledger.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "root.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.h"
#include "sensors/proc/build_id.h"
#include "sensors/gpu/driver_version.h"
#include "sensors/proc/engine_version.h"
#include "sensors/gpu/firmware.h"
#include "store/ledger.h"
#include "agent/policy/agent_policy.h"

#define CARD "/sys/class/drm/card0"

static void put_link(const char *name, const char *target)
{
	char path[512], *slash;

	snprintf(path, sizeof(path), "%s%s", root, name);
	slash = strrchr(path, '/');
	*slash = 0;
	davy_make_dirs(path);
	*slash = '/';
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
}

/* A 64-bit file with one note segment; "size" is its size in the header. */
struct elf {
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	Elf64_Nhdr note;
	char name[4];
	unsigned char id[20];
};

static struct elf an_elf(unsigned char id)
{
	struct elf e = {
		.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64 },
			  .e_phoff = offsetof(struct elf, segment),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 1 },
		.segment = { .p_type = PT_NOTE,
			     .p_offset = offsetof(struct elf, note),
			     .p_filesz = sizeof(struct elf) - offsetof(struct elf, note),
			     .p_align = 4 },
		.note = { 4, 20, NT_GNU_BUILD_ID },
		.name = "GNU",
	};

	memset(e.id, id, sizeof(e.id));
	return e;
}

static void put_elf(const char *name, unsigned char id)
{
	struct elf e = an_elf(id);

	put(name, (const char *)&e, sizeof(e));
}

static int read_elf(const struct elf *e, size_t size, struct davy_build_id *id)
{
	char path[128];
	int fd, err;

	put("/elf", (const char *)e, size);
	snprintf(path, sizeof(path), "%s/elf", root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	err = davy_build_id_read(fd, id);
	close(fd);
	return err;
}

static void a_build_id_is_found_if_it_exists(void **state)
{
	struct elf e = an_elf(0xab);
	struct davy_build_id id;

	(void)state;
	assert_int_equal(read_elf(&e, sizeof(e), &id), 0);
	assert_int_equal(id.size, 20);
	assert_memory_equal(id.bytes, e.id, 20);
	assert_true(davy_build_id_head(&id) == 0xababababababababULL);
	e.note.n_type = 4;
	memcpy(e.name, "Go\0", 4); /* Go's own */
	assert_int_equal(read_elf(&e, sizeof(e), &id), 0);
	memcpy(e.name, "GNU", 4); /* its property note, and no other */
	assert_int_equal(read_elf(&e, sizeof(e), &id), -ENOENT);
	e = an_elf(1);
	e.segment.p_type = PT_LOAD;
	assert_int_equal(read_elf(&e, sizeof(e), &id), -ENOENT);
	e = an_elf(1);
	e.head.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(read_elf(&e, sizeof(e), &id), -ENOEXEC);
	assert_int_equal(read_elf(&e, 7, &id), -ENOEXEC);
	id.size = 3; /* a short one is filled up */
	memcpy(id.bytes, "\1\2\3", 3);
	assert_true(davy_build_id_head(&id) == 0x0102030000000000ULL);
}

static void sizes_in_an_elf_file_are_checked(void **state)
{
	struct elf e = an_elf(1);
	struct davy_build_id id;

	(void)state;
	e.note.n_descsz = UINT32_MAX;
	assert_int_equal(read_elf(&e, sizeof(e), &id), -ENOENT);
	e = an_elf(1);
	e.note.n_namesz = UINT32_MAX - 2;
	assert_int_equal(read_elf(&e, sizeof(e), &id), -ENOENT);
	e = an_elf(1);
	e.segment.p_filesz = UINT64_MAX;
	assert_int_equal(read_elf(&e, sizeof(e), &id), 0); /* as much as there is */
	e.segment.p_offset = UINT64_MAX;
	assert_int_equal(read_elf(&e, sizeof(e), &id), -ENOENT);
	e = an_elf(1);
	e.head.e_phoff = UINT64_MAX - 3;
	assert_int_equal(read_elf(&e, sizeof(e), &id), -ENOEXEC);
	e = an_elf(1);
	e.head.e_phnum = UINT16_MAX;
	e.segment.p_type = PT_LOAD;
	assert_int_equal(read_elf(&e, sizeof(e), &id), -ENOEXEC); /* it ends before */
	for (size_t size = 0; size < offsetof(struct elf, id) + sizeof(e.id); size++) {
		e = an_elf(1);
		assert_int_not_equal(read_elf(&e, size, &id), 0);
	}
}

static void notes_stand_behind_each_other(void **state)
{
	struct __attribute__((packed)) {
		Elf64_Nhdr first;
		char first_name[8]; /* 5 bytes and their padding */
		Elf64_Nhdr second;
		char second_name[4];
		unsigned char id[8];
	} notes = { { 5, 0, 1 }, "Xen\0", { 4, 8, NT_GNU_BUILD_ID }, "GNU", "12345678" };
	const unsigned char *at = (const unsigned char *)&notes;
	struct davy_build_id id;

	(void)state;
	assert_int_equal(davy_build_id_in_notes(at, sizeof(notes), 4, &id), 0);
	assert_int_equal(id.size, 8);
	assert_memory_equal(id.bytes, "12345678", 8);
	assert_int_equal(davy_build_id_in_notes(at, sizeof(notes) - 1, 4, &id), -EBADMSG);
	assert_int_equal(davy_build_id_in_notes(at, 20, 4, &id), -ENOENT);
	assert_int_equal(davy_build_id_in_notes(at, 0, 4, &id), -ENOENT);
	notes.second.n_descsz = 0;
	assert_int_equal(davy_build_id_in_notes(at, sizeof(notes), 4, &id), -ENOENT);
}

static const char *driver_version(const char *driver)
{
	static char text[DAVY_VERSION_TEXT_LEN];

	memset(text, 'x', sizeof(text));
	davy_driver_version_read(driver, text);
	return text;
}

static void a_driver_is_known_by_its_module(void **state)
{
	struct elf e = an_elf(0x1f);

	(void)state;
	PUT("/sys/module/amdgpu/version", "6.8.5\n");
	PUT("/sys/module/amdgpu/srcversion", "533BB7E5866E52F63B9ACCB\n");
	assert_string_equal(driver_version("amdgpu"), "amdgpu 6.8.5 (533BB7E5866E52F63B9ACCB)");
	PUT("/sys/module/i915/srcversion", "ABCDEF\n");
	assert_string_equal(driver_version("i915"), "i915 (ABCDEF)");
	put("/sys/module/xe/notes/.note.gnu.build-id", (const char *)&e.note,
	    sizeof(e) - offsetof(struct elf, note));
	assert_string_equal(driver_version("xe"), "xe (build 1f1f1f1f1f1f1f1f)");
	assert_string_equal(driver_version("nouveau"), "nouveau"); /* built in */
	PUT("/sys/module/virtio_gpu/srcversion", "1");
	assert_string_equal(driver_version("virtio-gpu"), "virtio_gpu (1)");
	assert_string_equal(driver_version(""), "");
	assert_string_equal(driver_version("../../../etc"), "");
	PUT("/sys/module/msm/version", "\033[2J\xff long, and with words\n");
	assert_string_equal(driver_version("msm"), "msm \\x1b[2J\\xff");
}

static void nvidias_version_is_in_two_places(void **state)
{
	(void)state;
	assert_string_equal(driver_version("nvidia"), "nvidia");
	PUT("/proc/driver/nvidia/version",
	    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC "
	    "2024\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n");
	assert_string_equal(driver_version("nvidia"), "nvidia 550.54.14");
	PUT("/proc/driver/nvidia/version",
	    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n");
	assert_string_equal(driver_version("nvidia"), "nvidia 570.86.15");
	PUT("/proc/driver/nvidia/version", "NVRM version: none\n1.2.3\n");
	assert_string_equal(driver_version("nvidia"), "nvidia");
	PUT("/sys/module/nvidia/version", "580.1.2\n");
	assert_string_equal(driver_version("nvidia"), "nvidia 580.1.2");
}

static const struct davy_gpu amd = { .device = "0000:03:00.0", .driver = "amdgpu" };
static const struct davy_gpu intel = { .device = "0000:00:02.0", .driver = "xe" };

static void firmware_of_amdgpu_is_a_sum_and_some_names(void **state)
{
	char first[DAVY_VERSION_TEXT_LEN], text[DAVY_VERSION_TEXT_LEN];

	(void)state;
	davy_firmware_read(&amd, text);
	assert_string_equal(text, "");
	PUT(CARD "/device/fw_version/mes_fw_version", "0x00000083\n");
	PUT(CARD "/device/fw_version/smc_fw_version", "0x004d3a00\n");
	PUT(CARD "/device/fw_version/vcn_fw_version", "0x00000001\n");
	PUT(CARD "/device/fw_version/uvd_fw_version", "0x00000000\n"); /* it has none */
	PUT(CARD "/device/fw_version/mec_fw_version", "what is no number\n");
	PUT(CARD "/device/fw_version/a_name_that_is_far_too_long_fw_version", "0x1\n");
	PUT(CARD "/device/fw_version/_fw_version", "0x1\n");
	PUT(CARD "/device/fw_version/other", "0x1\n");
	davy_firmware_read(&amd, first);
	assert_memory_equal(first, "mes 0x83, smc 0x4d3a00, all ", 28);
	assert_int_equal(strlen(first), 36);
	davy_firmware_read(&amd, text);
	assert_string_equal(text, first);
	PUT(CARD "/device/fw_version/vcn_fw_version", "0x00000002\n");
	davy_firmware_read(&amd, text);
	assert_memory_equal(text, "mes 0x83, smc 0x4d3a00, all ", 28);
	assert_string_not_equal(text, first); /* one that is not named counts, too */
	PUT(CARD "/device/fw_version/uvd_fw_version", "0xffffffffffffffff\n");
	PUT(CARD "/device/fw_version/mes_fw_version", "0xffffffff\n");
	PUT(CARD "/device/fw_version/mec_fw_version", "0xffffffff\n");
	PUT(CARD "/device/fw_version/smc_fw_version", "0xffffffffffff\n");
	PUT(CARD "/device/fw_version/sdma_fw_version", "0xffffffff\n");
	davy_firmware_read(&amd, text);
	assert_non_null(strstr(text, ", all ")); /* the longest finds room */
}

static void intels_texts_of_every_kernel_are_understood(void **state)
{
	char version[32] = "";

	(void)state;
	assert_true(
		davy_firmware_intel("GuC firmware: i915/adlp_guc_70.1.1.bin\n\tstatus: RUNNING\n"
				    "\tversion: wanted 70.1, found 70.1\n\tuCode: 1 bytes\n",
				    version, sizeof(version)));
	assert_string_equal(version, "70.1");
	assert_true(davy_firmware_intel("GuC firmware: i915/tgl_guc_70.bin\n\tstatus: RUNNING\n"
					"\tversion: found 70.13.1\n",
					version, sizeof(version)));
	assert_string_equal(version, "70.13.1");
	assert_true(davy_firmware_intel("GuC firmware: xe/bmg_guc_70.bin\n\tstatus: RUNNING\n"
					"\twanted release version 70.29.2\n"
					"\tfound release version 70.36.0\n"
					"\tfound compatibility version 1.17.2\n",
					version, sizeof(version)));
	assert_string_equal(version, "70.36.0");
	assert_false(davy_firmware_intel("", version, sizeof(version)));
	assert_false(davy_firmware_intel("GuC disabled\n", version, sizeof(version)));
	assert_false(
		davy_firmware_intel("\tversion: found none\n70.1\n", version, sizeof(version)));
	assert_false(davy_firmware_intel("version: found 0.0.0\n", version, sizeof(version)));
	assert_false(davy_firmware_intel("found 1111111111111111111111111111111111111111.1",
					 version, sizeof(version)));
	assert_string_equal(version, "70.36.0"); /* untouched */
}

static void a_child_reads_files_that_may_block(void **state)
{
	char text[DAVY_VERSION_TEXT_LEN] = "";
	struct pollfd ready = { .events = POLLIN };
	struct davy_child child = DAVY_CHILD_NONE;

	(void)state;
	assert_true(davy_firmware_waits(&intel));
	assert_false(davy_firmware_waits(&amd));
	PUT("/sys/kernel/debug/dri/0/gt0/uc/guc_info", "\tfound release version 70.36.0\n");
	PUT("/sys/kernel/debug/dri/0/gt0/uc/huc_info", "\tfound release version 8.2.10\n");
	ready.fd = davy_firmware_ask(&intel, &child);
	assert_true(ready.fd >= 0 && child.pid > 0);
	assert_int_equal(poll(&ready, 1, 60000), 1);
	assert_int_equal(davy_firmware_take(ready.fd, text), 0);
	assert_string_equal(text, "guc 70.36.0, huc 8.2.10");
	assert_int_equal(davy_child_wait(&child, 60000, NULL), 1);
	assert_int_equal(davy_firmware_take(ready.fd, text), -ENOENT); /* it has ended */
	close(ready.fd);
}

static void a_missing_answer_is_not_waited_for(void **state)
{
	char text[DAVY_VERSION_TEXT_LEN] = "before", path[256];
	struct pollfd ours = { .events = POLLIN };
	struct davy_child child = DAVY_CHILD_NONE;
	int fd, held[2];

	(void)state;
	assert_int_equal(pipe(held), 0); /* as the agent's socket */
	PUT("/sys/kernel/debug/dri/0/gt0/uc/huc_info", "");
	snprintf(path, sizeof(path), "%s/sys/kernel/debug/dri/0/gt0/uc/guc_info", root);
	assert_int_equal(mkfifo(path, 0600), 0); /* as a device that hangs */
	fd = davy_firmware_ask(&intel, &child);
	assert_true(fd >= 0);
	assert_int_equal(davy_firmware_take(fd, text), -EAGAIN);
	assert_string_equal(text, "before");
	close(held[1]);
	ours.fd = held[0];
	assert_int_equal(poll(&ours, 1, 60000), 1); /* it keeps none of our files open */
	assert_int_equal(davy_child_reap(&child, NULL), 0);
	close(held[0]);
	assert_int_equal(davy_child_end(&child, 60000), 0);
	assert_int_equal(davy_firmware_take(fd, text), -ENOENT);
	close(fd);
}

#define PID "/proc/300"

/* The mount on which our folder lies, as the real kernel names it. */
static void put_mounts(void)
{
	char text[65536];
	ssize_t n = davy_read_file("/proc/self/mountinfo", text, sizeof(text));

	put(PID "/mountinfo", text, n > 0 ? (size_t)n : 0);
}

/* The same, on a file system that a process serves. */
static void put_waiting_mount(void)
{
	char text[256];
	struct statx st;
	int n;

	assert_int_equal(statx(AT_FDCWD, root, 0, STATX_MNT_ID, &st), 0);
	n = snprintf(text, sizeof(text), "%llu 1 0:77 / / rw - fuse.sshfs source rw\n",
		     (unsigned long long)st.stx_mnt_id);
	put(PID "/mountinfo", text, (size_t)n);
}

/* llama-server with two libraries of these builds. */
static struct davy_process_info put_engine(unsigned char exe, unsigned char llama,
					   unsigned char ggml)
{
	struct davy_process_info info = { .pid = 300, .ev.engine = DAVY_ENGINE_LLAMA_SERVER };

	put_mounts();
	put_elf(PID "/root/usr/bin/llama-server", exe);
	put_link(PID "/exe", "root/usr/bin/llama-server");
	put_elf(PID "/root/usr/lib/libllama.so.0.0.8681", llama);
	put_elf(PID "/root/usr/lib/libggml-base.so.0.9.11", ggml);
	put_link(PID "/map_files/1-2", "../root/usr/lib/libggml-base.so.0.9.11");
	snprintf(info.llama_library, PATH_MAX, "%s" PID "/root/usr/lib/libllama.so.0.0.8681", root);
	snprintf(info.ggml_library, PATH_MAX, "%s" PID "/map_files/1-2", root);
	return info;
}

static const char *engine_version(const struct davy_process_info *info)
{
	static char text[8][DAVY_VERSION_TEXT_LEN];
	static size_t at;
	char *now = text[at++ % 8];

	memset(now, 'x', DAVY_VERSION_TEXT_LEN);
	davy_engine_version_read(info, now);
	return now;
}

static void an_engine_is_known_by_its_builds(void **state)
{
	struct davy_process_info info = put_engine(1, 2, 3);
	static const char named[] = "llama-server, llama 0.0.8681, ggml 0.9.11, build ";
	const char *first = engine_version(&info), *again;

	(void)state;
	assert_memory_equal(first, named, sizeof(named) - 1);
	assert_int_equal(strlen(first), sizeof(named) - 1 + 16);
	info = put_engine(1, 2, 3); /* installed again */
	assert_string_equal(engine_version(&info), first);
	for (unsigned char i = 0; i < 3; i++) {
		info = put_engine(i == 0 ? 9 : 1, i == 1 ? 9 : 2, i == 2 ? 9 : 3);
		again = engine_version(&info);
		assert_memory_equal(again, named, sizeof(named) - 1);
		assert_string_not_equal(again, first);
	}
}

static void an_interpreter_is_no_engine(void **state)
{
	struct davy_process_info info = put_engine(1, 2, 3);
	const char *with = engine_version(&info), *without;

	(void)state;
	put_elf(PID "/root/usr/bin/python3.11", 1);
	put_link(PID "/exe", "root/usr/bin/python3.11");
	without = engine_version(&info);
	assert_string_not_equal(without, with);
	put_elf(PID "/root/usr/bin/python3.11", 7);
	assert_string_equal(engine_version(&info),
			    without); /* llama-cpp-python's libraries count */
	info.llama_library[0] = info.ggml_library[0] = 0;
	assert_string_equal(engine_version(&info), "");
	put_link(PID "/exe", "root/usr/bin/gone");
	assert_string_equal(engine_version(&info), "");
	info.pid = 301; /* gone altogether */
	assert_string_equal(engine_version(&info), "");
}

static void a_file_without_an_id_counts_by_its_times(void **state)
{
	struct davy_process_info info = put_engine(1, 2, 3);
	struct timespec times[2] = { { 1000, 0 }, { 1000, 0 } };
	const char *first, *later;
	char path[256];

	(void)state;
	snprintf(path, sizeof(path), "%s" PID "/root/usr/bin/llama-server", root);
	PUT(PID "/root/usr/bin/llama-server", "not from a linker");
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	first = engine_version(&info);
	assert_string_equal(engine_version(&info), first);
	times[1].tv_sec++;
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	later = engine_version(&info);
	assert_string_not_equal(later, first);
	/* On a file system that may block: not read, identified also by its times. */
	put_elf(PID "/root/usr/bin/llama-server", 1);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	first = engine_version(&info);
	put_waiting_mount();
	later = engine_version(&info);
	assert_string_not_equal(later, first);
	assert_int_equal(strlen(later), strlen(first));
}

static void a_name_of_any_length_finds_room(void **state)
{
	struct davy_process_info info = put_engine(1, 2, 3);

	(void)state;
	put_elf(PID "/root/libllama.so.1111.2222.3333.444", 2);
	snprintf(info.llama_library, PATH_MAX, "%s" PID "/root/libllama.so.1111.2222.3333.444",
		 root);
	assert_non_null(strstr(engine_version(&info), ", llama 1111.2222.3333.444, "));
	snprintf(info.llama_library, PATH_MAX, "%s" PID "/root/libllama.so.1111.2222.3333.4444.555",
		 root);
	assert_null(strstr(engine_version(&info), "llama 1"));
	snprintf(info.llama_library, PATH_MAX, "%s" PID "/root/libllama.so.1\033[2J", root);
	assert_null(strchr(engine_version(&info), '\033'));
}

static const struct davy_ledger_environment some = { "amdgpu 6.8.5", "6.12.0", "mes 0x83",
						     "llama-server, build 1" };

static void the_stamp_is_the_same_everywhere(void **state)
{
	const struct davy_ledger_environment none = { "", "", "", "" };
	struct davy_ledger_environment e = some;
	uint64_t stamp = davy_ledger_environment_stamp(&some);

	(void)state;
	assert_true(stamp == 0x23a554d1a57747a7ULL);
	assert_int_not_equal(davy_ledger_environment_stamp(&none), 0);
	memset(e.kernel, 'x', sizeof(e.kernel)); /* behind a text's end nothing counts */
	strcpy(e.kernel, some.kernel);
	assert_true(davy_ledger_environment_stamp(&e) == stamp);
	memset(e.engine, 'x', sizeof(e.engine)); /* unterminated: reading stops at its size */
	assert_true(davy_ledger_environment_stamp(&e) != stamp);
}

static void each_version_makes_another_stamp(void **state)
{
	struct davy_ledger_environment e[6] = { some, some, some, some, some, some };
	uint64_t stamp[6];

	(void)state;
	strcpy(e[1].driver, "amdgpu 6.8.6");
	strcpy(e[2].kernel, "6.12.1");
	strcpy(e[3].firmware, "");
	strcpy(e[4].engine, "llama-server, build 2");
	strcpy(e[5].driver, "amdgpu 6.8.56.12.0"); /* the border between two counts */
	strcpy(e[5].kernel, "");
	for (size_t i = 0; i < 6; i++) {
		stamp[i] = davy_ledger_environment_stamp(&e[i]);
		for (size_t j = 0; j < i; j++)
			assert_true(stamp[i] != stamp[j]);
	}
}

static const char *image = "";

static const char *image_of(struct davy_agent *a, uint32_t workload)
{
	(void)a;
	(void)workload;
	return image;
}

static const struct davy_agent_hooks hooks = { .image_of_workload = image_of };
static struct davy_agent agent;

static int new_agent(void **state)
{
	memset(&agent, 0, sizeof(agent));
	agent.hooks = &hooks;
	agent.terminal = true; /* the text is kept, not printed */
	agent.options.state_dir = "/state";
	davy_core_init(&agent.core);
	return make_root(state);
}

static struct davy_watched_gpu *put_gpu(const struct davy_gpu *gpu)
{
	agent.gpus.count = 1;
	agent.gpus.gpu[0].gpu = *gpu;
	return &agent.gpus.gpu[0];
}

static struct davy_tracked *track(const struct davy_gpu *gpu)
{
	struct davy_tracked *t = &agent.tracked[0];

	t->pid = 300;
	t->engine_known = true;
	t->reported.workload = 1;
	t->reported.backend = DAVY_BACKEND_VULKAN;
	davy_copy_name(t->engine, sizeof(t->engine), "llama-server, build 1");
	davy_copy_name(t->reported.model, sizeof(t->reported.model), "m.gguf");
	davy_copy_name(t->reported.device, sizeof(t->reported.device), gpu->device);
	return t;
}

static void an_environment_is_whole_once_all_was_read(void **state)
{
	struct davy_ledger_environment e;
	struct davy_tracked *t = track(&amd);
	struct davy_watched_gpu *w = put_gpu(&amd);
	struct utsname name;

	(void)state;
	PUT("/sys/module/amdgpu/version", "6.8.5\n");
	PUT(CARD "/device/fw_version/mes_fw_version", "0x00000083\n");
	assert_false(davy_agent_environment(&agent, t, &e));
	davy_agent_versions_tick(&agent, DAVY_NS_PER_S);
	assert_true(davy_agent_environment(&agent, t, &e));
	assert_string_equal(e.driver, "amdgpu 6.8.5");
	assert_memory_equal(e.firmware, "mes 0x83, all ", 14);
	assert_string_equal(e.engine, "llama-server, build 1");
	image = "0123456789ab"; /* another image may have other libraries */
	assert_true(davy_agent_environment(&agent, t, &e));
	assert_string_equal(e.engine, "llama-server, build 1 image 0123456789ab");
	image = "";
	uname(&name);
	assert_string_equal(e.kernel, name.release);
	PUT("/sys/module/amdgpu/version", "6.8.6\n"); /* read once, not on every tick */
	davy_agent_versions_tick(&agent, 2 * DAVY_NS_PER_S);
	assert_string_equal(w->versions.driver, "amdgpu 6.8.5");
	davy_agent_gpus_changed(&agent);
	assert_false(davy_agent_environment(&agent, t, &e));
	davy_agent_versions_tick(&agent, 3 * DAVY_NS_PER_S);
	assert_string_equal(w->versions.driver, "amdgpu 6.8.6");
	t->engine_known = false;
	assert_false(davy_agent_environment(&agent, t, &e));
}

static void a_gpu_that_is_no_drm_device_has_a_driver(void **state)
{
	struct davy_ledger_environment e;
	struct davy_tracked *t = track(&amd);

	(void)state;
	put_link("/sys/bus/pci/devices/0000:03:00.0/driver", "../../../../bus/pci/drivers/nvidia");
	PUT("/sys/module/nvidia/version", "550.54.14\n");
	assert_true(davy_agent_environment(&agent, t, &e));
	assert_string_equal(e.driver, "nvidia 550.54.14");
	assert_string_equal(e.firmware, "");
	davy_copy_name(t->reported.device, sizeof(t->reported.device), "llvmpipe");
	assert_true(davy_agent_environment(&agent, t, &e));
	assert_string_equal(e.driver, "");
}

static void a_suspended_device_is_read_when_it_is_active(void **state)
{
	struct davy_watched_gpu *w = put_gpu(&intel);
	struct pollfd ready = { .events = POLLIN };

	(void)state;
	PUT("/sys/kernel/debug/dri/0/gt0/uc/guc_info", "\tfound release version 70.36.0\n");
	PUT(CARD "/device/power/runtime_status", "suspended\n");
	davy_agent_versions_tick(&agent, DAVY_NS_PER_S);
	assert_false(w->versions.settled || w->versions.asking);
	PUT(CARD "/device/power/runtime_status", "active\n");
	davy_agent_versions_tick(&agent, 2 * DAVY_NS_PER_S); /* looked at now and then only */
	assert_false(w->versions.asking);
	davy_agent_versions_tick(&agent, 12 * DAVY_NS_PER_S);
	assert_true(w->versions.asking);
	ready.fd = w->versions.fd;
	assert_int_equal(poll(&ready, 1, 60000), 1);
	davy_agent_versions_tick(&agent, 13 * DAVY_NS_PER_S);
	assert_true(w->versions.settled && !w->versions.asking);
	assert_string_equal(w->versions.firmware, "guc 70.36.0");
	assert_string_equal(w->versions.driver, "xe");
	while (w->versions.child.pid)
		davy_agent_versions_tick(&agent, 14 * DAVY_NS_PER_S);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

static void a_hanging_device_blocks_no_other(void **state)
{
	struct davy_watched_gpu *w = put_gpu(&intel);
	char path[256];

	(void)state;
	PUT("/sys/kernel/debug/dri/0/gt0/uc/huc_info", "");
	snprintf(path, sizeof(path), "%s/sys/kernel/debug/dri/0/gt0/uc/guc_info", root);
	assert_int_equal(mkfifo(path, 0600), 0);
	davy_agent_versions_tick(&agent, DAVY_NS_PER_S);
	assert_true(w->versions.asking);
	davy_agent_versions_tick(&agent, 5 * DAVY_NS_PER_S);
	assert_true(w->versions.asking);
	davy_agent_versions_tick(&agent, 12 * DAVY_NS_PER_S);
	assert_true(w->versions.settled && !w->versions.asking);
	assert_string_equal(w->versions.firmware, "");
	while (w->versions.child.pid)
		davy_agent_versions_tick(&agent, 13 * DAVY_NS_PER_S);
	davy_agent_gpus_changed(&agent); /* asked again, and it disappears meanwhile */
	davy_agent_versions_tick(&agent, 14 * DAVY_NS_PER_S);
	assert_true(w->versions.asking);
	davy_agent_versions_close(&agent);
	while (davy_child_reap_left())
		;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

struct rows {
	int count;
	struct davy_ledger_row at[4];
};

static void on_row(void *arg, const struct davy_ledger_row *row)
{
	struct rows *rows = arg;

	if (rows->count < 4)
		rows->at[rows->count] = *row;
	rows->count++;
}

static struct rows read_rows(const struct davy_ledger_environment *now)
{
	const struct davy_ledger_filter filter = { .model = "m.gguf", .now = now };
	struct rows rows = { 0 };
	struct davy_db *db = NULL;

	assert_int_equal(davy_db_open("/state", DAVY_DB_THERE, &db), 0);
	assert_true(davy_ledger_each(db, &filter, on_row, &rows) >= 0);
	davy_db_close(db);
	return rows;
}

static void success_under_another_driver_counts_less(void **state)
{
	struct davy_ledger_environment now;
	struct davy_tracked *t = track(&amd);
	struct rows rows;

	(void)state;
	put_gpu(&amd);
	PUT("/sys/module/amdgpu/version", "6.8.5\n");
	davy_agent_versions_tick(&agent, DAVY_NS_PER_S);
	davy_agent_ledger_tick(&agent, 100 * DAVY_NS_PER_S);
	davy_agent_ledger_tick(&agent, 200 * DAVY_NS_PER_S);
	davy_agent_environment(&agent, t, &now);
	rows = read_rows(&now);
	assert_int_equal(rows.count, 1);
	assert_int_equal(rows.at[0].weight, DAVY_LEDGER_WEIGHT);
	assert_int_equal(rows.at[0].entry.survived_s, 100);
	assert_string_equal(rows.at[0].key.environment.driver, "amdgpu 6.8.5");
	PUT("/sys/module/amdgpu/version", "6.8.6\n");
	davy_agent_gpus_changed(&agent);
	davy_agent_versions_tick(&agent, 201 * DAVY_NS_PER_S);
	davy_copy_name(t->engine, sizeof(t->engine), "llama-server, build 2");
	davy_agent_ledger_tick(&agent, 300 * DAVY_NS_PER_S);
	davy_agent_environment(&agent, t, &now);
	rows = read_rows(&now);
	assert_int_equal(rows.count, 2);
	for (int i = 0; i < 2; i++) {
		bool old = !strcmp(rows.at[i].key.environment.driver, "amdgpu 6.8.5");

		assert_int_equal(rows.at[i].weight, old ? 250 : DAVY_LEDGER_WEIGHT);
	}
}

static void note_failure(const char *kernel, uint32_t ubatch, uint32_t depth)
{
	const struct davy_ledger_entry entry = { .failed_depth = depth,
						 .outcome = DAVY_CLASS_RING_TIMEOUT,
						 .faults[DAVY_CLASS_RING_TIMEOUT] = 1 };
	struct davy_ledger_key key = { .backend = DAVY_BACKEND_VULKAN, .ubatch = ubatch };
	struct davy_db *db = NULL;

	davy_copy_name(key.model, sizeof(key.model), "m.gguf");
	davy_copy_name(key.environment.kernel, sizeof(key.environment.kernel), kernel);
	assert_int_equal(davy_db_open("/state", DAVY_DB_MAKE, &db), 0);
	assert_int_equal(davy_ledger_note(db, &key, &entry), 0);
	davy_db_close(db);
}

static uint32_t failed_at(void)
{
	return davy_agent_ledger_depth(&agent, DAVY_BACKEND_VULKAN, "m.gguf", 128);
}

static void failure_under_another_kernel_is_superseded(void **state)
{
	struct utsname name;

	(void)state;
	uname(&name);
	assert_int_equal(failed_at(), 0);
	note_failure("5.0-another", 512, 300);
	note_failure("5.0-another", 256, 100);
	note_failure("5.0-another", 128, 7); /* no larger one */
	assert_int_equal(failed_at(), 100);
	note_failure(name.release, 256, 900);
	assert_int_equal(failed_at(), 900);
	note_failure(name.release, 512, 800);
	assert_int_equal(failed_at(), 800);
	note_failure("5.0-another", 1024, 50);
	assert_int_equal(failed_at(), 800);
}

int main(void)
{
#define IN_ROOT(test)  cmocka_unit_test_setup_teardown(test, make_root, remove_root)
#define IN_AGENT(test) cmocka_unit_test_setup_teardown(test, new_agent, remove_root)
	const struct CMUnitTest tests[] = {
		IN_ROOT(a_build_id_is_found_if_it_exists),
		IN_ROOT(sizes_in_an_elf_file_are_checked),
		cmocka_unit_test(notes_stand_behind_each_other),
		IN_ROOT(a_driver_is_known_by_its_module),
		IN_ROOT(nvidias_version_is_in_two_places),
		IN_ROOT(firmware_of_amdgpu_is_a_sum_and_some_names),
		cmocka_unit_test(intels_texts_of_every_kernel_are_understood),
		IN_ROOT(a_child_reads_files_that_may_block),
		IN_ROOT(a_missing_answer_is_not_waited_for),
		IN_ROOT(an_engine_is_known_by_its_builds),
		IN_ROOT(an_interpreter_is_no_engine),
		IN_ROOT(a_file_without_an_id_counts_by_its_times),
		IN_ROOT(a_name_of_any_length_finds_room),
		cmocka_unit_test(the_stamp_is_the_same_everywhere),
		cmocka_unit_test(each_version_makes_another_stamp),
		IN_AGENT(an_environment_is_whole_once_all_was_read),
		IN_AGENT(a_gpu_that_is_no_drm_device_has_a_driver),
		IN_AGENT(a_suspended_device_is_read_when_it_is_active),
		IN_AGENT(a_hanging_device_blocks_no_other),
		IN_AGENT(success_under_another_driver_counts_less),
		IN_AGENT(failure_under_another_kernel_is_superseded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
