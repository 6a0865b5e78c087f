/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings of an engine before its start: variables for a backend and a device, the host's
 * devices with each backend's numbers, words quoted for a shell, and a limit of memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "root.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "act/cgroup.h"
#include "act/launch.h"
#include "host/host_devices.h"
#include "engines/tell.h"
#include "lib/text.h"
#include "sensors/proc/engine_parts.h"
#include "sensors/proc/ollama_name.h"

#define BIT(b) (1u << (b))

static struct davy_environment reported;

static int tell(enum davy_engine engine, struct davy_engine_target t)
{
	const struct davy_engine_facts f = { .engine = engine };

	return davy_engine_tell(&f, &t, &reported);
}

/* "A=1 B=2" */
static const char *as_text(void)
{
	static char text[1024];
	size_t used = 0;

	text[0] = 0;
	for (size_t i = 0; i < reported.count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s=%s", i ? " " : "",
					 reported.at[i].name, reported.at[i].value);
	return text;
}

#define NO_INDEX                                                                                   \
	{                                                                                          \
		-1, -1, -1, -1, -1, -1                                                             \
	}

#define HIDDEN                                                                                     \
	"VK_LOADER_DRIVERS_SELECT=none VK_DRIVER_FILES=/nonexistent "                              \
	"VK_ICD_FILENAMES=/nonexistent CUDA_VISIBLE_DEVICES=-1 ROCR_VISIBLE_DEVICES=-1 "           \
	"HIP_VISIBLE_DEVICES=-1"

static void each_engine_gets_its_own_options(void **state)
{
	static const struct {
		enum davy_engine engine;
		enum davy_backend backend;
		int err;
		const char *text;
	} rows[] = {
		{ DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_CPU, 0, "" }, /* by its options */
		{ DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN, 0, "" },
		{ DAVY_ENGINE_OLLAMA, DAVY_BACKEND_CPU, 0,
		  "OLLAMA_LLM_LIBRARY=cpu OLLAMA_VULKAN=0 " HIDDEN
		  " GGML_VK_VISIBLE_DEVICES=-1 LLAMA_ARG_DEVICE=none" },
		{ DAVY_ENGINE_OLLAMA, DAVY_BACKEND_VULKAN, 0,
		  "OLLAMA_LLM_LIBRARY=vulkan OLLAMA_VULKAN=1 OLLAMA_IGPU_ENABLE=1" },
		{ DAVY_ENGINE_OLLAMA, DAVY_BACKEND_ROCM, 0, "OLLAMA_VULKAN=0" },
		{ DAVY_ENGINE_OLLAMA, DAVY_BACKEND_CUDA, 0,
		  "OLLAMA_VULKAN=0 ROCR_VISIBLE_DEVICES=-1 HIP_VISIBLE_DEVICES=-1" },
		{ DAVY_ENGINE_OLLAMA, DAVY_BACKEND_SYCL, -EOPNOTSUPP, NULL },
		{ DAVY_ENGINE_VLLM, DAVY_BACKEND_CPU, -EOPNOTSUPP, NULL },
		{ DAVY_ENGINE_VLLM, DAVY_BACKEND_VULKAN, -EOPNOTSUPP, NULL },
		{ DAVY_ENGINE_VLLM, DAVY_BACKEND_ROCM, 0, "" },
		{ DAVY_ENGINE_NONE, DAVY_BACKEND_CPU, 0,
		  HIDDEN " GGML_VK_VISIBLE_DEVICES=-1 ONEAPI_DEVICE_SELECTOR=!*:gpu" },
		{ DAVY_ENGINE_NONE, DAVY_BACKEND_VULKAN, 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(tell(rows[i].engine,
				      (struct davy_engine_target){ .backend = rows[i].backend,
								   .index = NO_INDEX }),
				 rows[i].err);
		if (rows[i].err)
			assert_true(reported.why[0]);
		else
			assert_string_equal(as_text(), rows[i].text);
	}
}

static void a_device_has_the_backends_number(void **state)
{
	struct davy_engine_target t = { .backend = DAVY_BACKEND_VULKAN,
					.device = true,
					.index = { -1, -1, 2, 1, -1, 0 } };

	(void)state;
	assert_int_equal(tell(DAVY_ENGINE_LLAMA_SERVER, t), 0);
	assert_string_equal(as_text(), "GGML_VK_VISIBLE_DEVICES=2");
	t.backend = DAVY_BACKEND_ROCM;
	assert_int_equal(tell(DAVY_ENGINE_VLLM, t), 0);
	assert_string_equal(as_text(), "ROCR_VISIBLE_DEVICES=1 HIP_VISIBLE_DEVICES=0");
	t.backend = DAVY_BACKEND_SYCL;
	assert_int_equal(tell(DAVY_ENGINE_LLAMA_SERVER, t), 0);
	assert_string_equal(as_text(),
			    "ZE_ENABLE_PCI_ID_DEVICE_ORDER=1 ONEAPI_DEVICE_SELECTOR=level_zero:0");
	t.backend = DAVY_BACKEND_CUDA;
	assert_int_equal(tell(DAVY_ENGINE_LLAMA_SERVER, t), -ENODEV);
	assert_non_null(strstr(reported.why, "cuda does not see that device"));
	t.index[DAVY_BACKEND_CUDA] = 3;
	assert_int_equal(tell(DAVY_ENGINE_LLAMA_SERVER, t), 0);
	assert_string_equal(as_text(), "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=3");
	t.backend = DAVY_BACKEND_UNKNOWN; /* whichever it takes; but not one that is hidden */
	t.hidden = BIT(DAVY_BACKEND_ROCM) | BIT(DAVY_BACKEND_SYCL);
	t.index[DAVY_BACKEND_CUDA] = -1;
	assert_int_equal(tell(DAVY_ENGINE_NONE, t), 0);
	assert_string_equal(as_text(), "ROCR_VISIBLE_DEVICES=-1 HIP_VISIBLE_DEVICES=-1 "
				       "ONEAPI_DEVICE_SELECTOR=!*:gpu GGML_VK_VISIBLE_DEVICES=2");
}

static void put_gpu(const char *card, const char *pci, const char *driver)
{
	char path[256], target[256];

	snprintf(path, sizeof(path), "/sys/devices/%s/drm/%s/dev", pci, card);
	put(path, "", 0);
	snprintf(path, sizeof(path), "%s/sys/bus/pci/drivers/%s", root, driver);
	davy_make_dirs(path);
	snprintf(path, sizeof(path), "%s/sys/class/drm/%s", root, card);
	davy_make_dirs(path);
	snprintf(target, sizeof(target), "%s/sys/devices/%s", root, pci);
	snprintf(path, sizeof(path), "%s/sys/class/drm/%s/device", root, card);
	assert_int_equal(symlink(target, path), 0);
	snprintf(path, sizeof(path), "%s/sys/devices/%s/driver", root, pci);
	snprintf(target, sizeof(target), "%s/sys/bus/pci/drivers/%s", root, driver);
	assert_int_equal(symlink(target, path), 0);
}

static struct davy_host_device list[DAVY_HOST_DEVICES_MAX];

static size_t devices(const char *answer, const char *visible)
{
	json_t *json = answer ? json_loads(answer, 0, NULL) : NULL;
	size_t count;

	assert_true(!answer || json);
	count = davy_host_devices(json, visible, list, DAVY_HOST_DEVICES_MAX);
	json_decref(json);
	return count;
}

static void devices_of_sysfs_and_vulkan_are_one(void **state)
{
	struct davy_policy_subject s = { 0 };

	(void)state;
	put_gpu("card0", "0000:65:00.0", "nvidia");
	put_gpu("card1", "0000:03:00.0", "nvidia");
	put_gpu("card2", "0000:00:02.0", "xe");
	assert_int_equal(devices(NULL, NULL), 3);
	assert_int_equal(list[0].index[DAVY_BACKEND_CUDA], 1); /* by address, not by card */
	assert_int_equal(list[1].index[DAVY_BACKEND_CUDA], 0);
	assert_int_equal(list[2].index[DAVY_BACKEND_CUDA], -1);
	assert_int_equal(list[2].index[DAVY_BACKEND_SYCL], 0);
	assert_int_equal(list[0].index[DAVY_BACKEND_VULKAN], -1);
	assert_int_equal(
		devices("{\"devices\": ["
			"{\"index\": 0, \"name\": \"A\", \"type\": \"integrated\", \"pci\": "
			"\"0000:00:02.0\", \"vendor\": 32902, \"device\": 25728, \"heaps\": "
			"[{\"size\": 1000, \"device_local\": false}, {\"size\": 900, "
			"\"device_local\": true, \"budget\": 800, \"usage\": 300}]},"
			"{\"index\": 1, \"name\": \"B\", \"type\": \"discrete\", \"pci\": "
			"\"0000:03:00.0\"},"
			"{\"index\": 2, \"name\": \"C\", \"type\": \"discrete\", \"pci\": null, "
			"\"vendor\": 4098, \"heaps\": [{\"size\": 70, \"device_local\": true}]},"
			"{\"index\": 3, \"name\": \"llvmpipe\", \"type\": \"cpu\", \"pci\": "
			"null}]}",
			NULL),
		4);
	assert_int_equal(list[2].index[DAVY_BACKEND_VULKAN], 0);
	assert_int_equal(list[2].free_bytes, 1500); /* all of it is the host's */
	assert_int_equal(list[1].index[DAVY_BACKEND_VULKAN], 1);
	assert_string_equal(list[3].gpu.device, "vulkan2");
	assert_int_equal(list[3].free_bytes, 70);
	davy_host_device_subject(&list[3], &s);
	assert_string_equal(s.vendor, "amd");
	assert_string_equal(s.kind, "dgpu");
	assert_string_equal(s.device, "vulkan2");
	memset(&s, 0, sizeof(s));
	davy_host_device_subject(&list[2], &s);
	assert_string_equal(s.driver, "xe");
	assert_string_equal(s.kind, "igpu");
	assert_string_equal(s.generation, "xe2"); /* 0x6480, Lunar Lake */
	assert_ptr_equal(davy_host_device_usual(list, 4), &list[0]);
	assert_ptr_equal(davy_host_device_usual(list + 2, 1), &list[2]);
	assert_ptr_equal(davy_host_device_usual(list + 2, 2),
			 &list[3]); /* before an integrated one */
}

static void a_servers_display_is_no_gpu(void **state)
{
	(void)state;
	put_gpu("card0", "0000:01:00.0", "ast");
	assert_int_equal(devices(NULL, NULL), 1);
	assert_null(davy_host_device_usual(list, 1));
	put_gpu("card1", "0000:00:02.0", "i915");
	assert_int_equal(devices(NULL, NULL), 2);
	assert_ptr_equal(davy_host_device_usual(list, 2), &list[1]);
	assert_null(davy_host_device_usual(list, 0));
	assert_int_equal(devices("{\"devices\": [{\"index\": 0, \"type\": \"virtual\", \"pci\": "
				 "\"0000:01:00.0\"}]}",
				 NULL),
			 2);
	assert_ptr_equal(davy_host_device_usual(list, 1), &list[0]);
}

static void the_cpu_is_a_device_only_when_it_is_named(void **state)
{
	static const char lavapipe[] =
		"{\"devices\": [{\"index\": 1, \"type\": \"cpu\", \"pci\": null}]}";

	(void)state;
	assert_int_equal(devices(lavapipe, NULL), 0);
	assert_int_equal(devices(lavapipe, "0"), 0);
	assert_int_equal(devices(lavapipe, ""), 0);
	assert_int_equal(devices(lavapipe, "0,1"), 1);
	assert_int_equal(devices(lavapipe, "x,1"), 0);
}

static void answers_that_lie_are_survived(void **state)
{
	static const char *const answers[] = {
		"{}",
		"[]",
		"{\"devices\": 7}",
		"{\"devices\": [7, null, [], {}]}",
		"{\"devices\": [{\"index\": -1}, {\"index\": 99999999999}, {\"index\": \"0\"}]}",
		"{\"devices\": [{\"index\": 0, \"pci\": \"\\u001b[2J\", \"name\": \"a\\nb\", "
		"\"heaps\": [{\"size\": -5, \"device_local\": true}, 3]}]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		devices(answers[i], NULL);
	assert_int_equal(devices(answers[5], NULL), 1);
	assert_string_equal(list[0].gpu.device, "vulkan0");
	assert_string_equal(list[0].name, "a\\x0ab");
}

static void radv_names_its_chip(void **state)
{
	struct davy_policy_subject s = { 0 };

	(void)state;
	davy_subject_radv(&s, "AMD Radeon Pro VII (RADV VEGA20)");
	assert_string_equal(s.gfx, "gfx906");
	davy_subject_radv(&s, "AMD Radeon Graphics (RADV GFX1150)");
	assert_string_equal(s.gfx, "gfx1150");
	davy_subject_radv(&s, "AMD Radeon (RADV NEVERLAND)");
	davy_subject_radv(&s, "(RADV ");
	davy_subject_radv(&s, "");
	assert_string_equal(s.gfx, "gfx1150");
}

static void words_are_quoted_for_a_shell(void **state)
{
	static const struct {
		const char *word;
		const char *text;
	} rows[] = {
		{ "llama-server", "llama-server" },
		{ "a=b,c:/d.e_f@g%h+i", "a=b,c:/d.e_f@g%h+i" },
		{ "", "''" },
		{ "two words", "'two words'" },
		{ "it's", "'it'\\''s'" },
		{ "$HOME;`x`", "'$HOME;`x`'" },
		{ "caf\xc3\xa9", "'caf\xc3\xa9'" },
		{ "a\nb", "$'a\\x0ab'" },
		{ "\x1b[2J'\\", "$'\\x1b[2J\\'\\\\'" },
		{ "\xff\xfe", "$'\\xff\\xfe'" },
		{ "\xc2\x9b\xc3\xa9", "$'\\xc2\\x9b\xc3\xa9'" },
		{ "\xf0\x9f", "$'\\xf0\\x9f'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = davy_text_shell(rows[i].word);

		assert_string_equal(text, rows[i].text);
		free(text);
	}
}

/* What a shell makes of it is the word again, whatever bytes it has. */
static void every_byte_comes_back_from_a_shell(void **state)
{
	char word[256], command[2048], back[256] = "", *text;
	FILE *shell;

	(void)state;
	for (int i = 1; i < 256; i++)
		word[i - 1] = (char)i;
	word[255] = 0;
	text = davy_text_shell(word);
	snprintf(command, sizeof(command), "exec bash <<'END'\nprintf %%s %s\nEND\n", text);
	free(text);
	shell = popen(command, "r");
	assert_non_null(shell);
	assert_int_equal(fread(back, 1, 255, shell), 255);
	pclose(shell);
	assert_memory_equal(word, back, 255);
}

static void libraries_beside_an_engine_are_its_backends(void **state)
{
	char program[256], *path;

	(void)state;
	snprintf(program, sizeof(program), "%s/usr/bin/llama-server", root);
	assert_int_equal(davy_engine_parts(DAVY_ENGINE_LLAMA_SERVER, program), 0);
	PUT("/usr/bin/llama-server", "#!/bin/sh\n");
	assert_int_equal(chmod(program, 0755), 0);
	assert_int_equal(davy_engine_parts(DAVY_ENGINE_LLAMA_SERVER, program),
			 0); /* a script, or static */
	PUT("/usr/lib/x/ggml/backends0/libggml-cpu-zen4.so", "");
	PUT("/usr/lib/x/ggml/backends0/libggml-vulkan.so", "");
	PUT("/usr/lib/x/ggml/backends0/libggml-vulkanish.so", "");
	assert_int_equal(davy_engine_parts(DAVY_ENGINE_LLAMA_SERVER, program),
			 BIT(DAVY_BACKEND_CPU) | BIT(DAVY_BACKEND_VULKAN));
	PUT("/usr/lib/ollama/rocm_v7_2/libggml-hip.so.0", "");
	assert_int_equal(davy_engine_parts(DAVY_ENGINE_OLLAMA, program),
			 BIT(DAVY_BACKEND_CPU) | BIT(DAVY_BACKEND_ROCM));
	assert_int_equal(davy_engine_parts(DAVY_ENGINE_LLAMA_SERVER, program),
			 BIT(DAVY_BACKEND_CPU) | BIT(DAVY_BACKEND_VULKAN));
	assert_int_equal(davy_engine_parts(DAVY_ENGINE_VLLM, program), 0);
	path = strdup(getenv("PATH"));
	snprintf(program, sizeof(program), "%s/usr/bin", root);
	setenv("PATH", program, 1);
	assert_true(davy_engine_parts(DAVY_ENGINE_LLAMA_SERVER, "llama-server") &
		    BIT(DAVY_BACKEND_VULKAN));
	assert_int_equal(davy_engine_parts(DAVY_ENGINE_LLAMA_SERVER, "other-server"), 0);
	setenv("PATH", path, 1);
	free(path);
}

static void ollamas_names_lead_to_blobs(void **state)
{
	static const char good[] =
		"{\"layers\": [{\"mediaType\": \"application/vnd.ollama.image.template\", "
		"\"digest\": "
		"\"sha256:0000000000000000000000000000000000000000000000000000000000000000\"},"
		"{\"mediaType\": \"application/vnd.ollama.image.model\", \"digest\": "
		"\"sha256:00000000000000000000000000000000000000000000000000000000000000ab\"}]}";
	static const char *const names[] = { "",       "..", "../x",   "/etc/passwd", "a//b",
					     "a/../b", "a:", "a:../b", "a:b/c",	      "a b",
					     "a\nb",   ".a", "a/.b" };
	char dir[128], digest[DAVY_OLLAMA_DIGEST_LEN] = "";

	(void)state;
	snprintf(dir, sizeof(dir), "%s/models", root);
	PUT("/models/manifests/registry.ollama.ai/library/lamp/latest", good);
	PUT("/models/manifests/registry.ollama.ai/me/lamp/1b", good);
	PUT("/models/manifests/hf.co/a/b/q4", good);
	PUT("/models/manifests/registry.ollama.ai/library/torn/latest", "{\"layers\": [");
	PUT("/models/manifests/registry.ollama.ai/library/short/latest",
	    "{\"layers\": [{\"mediaType\": \"application/vnd.ollama.image.model\", \"digest\": "
	    "\"sha256:../../../../etc/passwd\"}]}");
	assert_int_equal(davy_ollama_blob(dir, "lamp", digest), 0);
	assert_string_equal(digest + 60, "00ab");
	assert_int_equal(davy_ollama_blob(dir, "lamp:latest", digest), 0);
	assert_int_equal(davy_ollama_blob(dir, "me/lamp:1b", digest), 0);
	assert_int_equal(davy_ollama_blob(dir, "hf.co/a/b:q4", digest), 0);
	assert_int_equal(davy_ollama_blob(dir, "lamp:2b", digest), -ENOENT);
	assert_int_equal(davy_ollama_blob(dir, "me", digest), -ENOENT);
	assert_int_equal(davy_ollama_blob(dir, "torn", digest), -EBADMSG);
	assert_int_equal(davy_ollama_blob(dir, "short", digest), -EBADMSG);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(davy_ollama_blob(dir, names[i], digest), -EINVAL);
}

static void group_file(const char *group, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/cg%s/%s", group, file);
	put(path, text, strlen(text));
}

static void a_limit_of_memory_is_set_or_refused(void **state)
{
	struct davy_cgroup c = { .dir = "" };
	char path[256], text[64];

	(void)state;
	assert_int_equal(davy_cgroup_memory_max(&c, 1), -ENOTSUP);
	snprintf(c.dir, sizeof(c.dir), "%s/cg/engine", root);
	group_file("/engine", "cgroup.procs", "");
	group_file("", "cgroup.controllers", "cpu io\n");
	assert_int_equal(davy_cgroup_memory_max(&c, 4096), -ENOTSUP);
	group_file("", "cgroup.controllers", "cpu memory\n");
	group_file("", "cgroup.subtree_control", "");
	assert_int_equal(davy_cgroup_memory_max(&c, 4096), -ENOENT); /* no kernel makes the file */
	snprintf(path, sizeof(path), "%s/cg/cgroup.subtree_control", root);
	assert_true(davy_read_file(path, text, sizeof(text)) > 0);
	assert_string_equal(text, "+memory");
	group_file("/engine", "memory.max", "max\n");
	assert_int_equal(davy_cgroup_memory_max(&c, 3ULL << 30), 0);
	snprintf(path, sizeof(path), "%s/cg/engine/memory.max", root);
	assert_true(davy_read_file(path, text, sizeof(text)) > 0);
	assert_memory_equal(text, "3221225472", 10);
}

/* Kilobytes of the largest process of the group. */
static long largest_of(const struct davy_cgroup *group)
{
	char path[PATH_MAX + 16], line[128];
	long most = 0, kib;
	FILE *procs, *f;
	int pid;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group->dir);
	procs = fopen(path, "re");
	while (procs && fscanf(procs, "%d", &pid) == 1) {
		snprintf(path, sizeof(path), "/proc/%d/status", pid);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f))
			if (sscanf(line, "VmRSS: %ld", &kib) == 1 && kib > most)
				most = kib;
		if (f)
			fclose(f);
	}
	if (procs)
		fclose(procs);
	return most;
}

/* A process with much memory takes a while to end, and a port is free only after that. */
static void a_stopped_command_leaves_no_process(void **state)
{
	char *argv[] = { "sh", "-c", "head -c 600M /dev/zero | tail -c 600M | sleep 1000; exit 1",
			 NULL };
	const struct davy_engine_override none = { 0 };
	struct davy_launch l = { .argv = argv };
	struct davy_launched child;
	struct davy_cgroup group;
	int status;

	(void)state;
	if (geteuid() || davy_cgroup_make("davylamp-exec-unit", &l.cgroup))
		skip(); /* no cgroup can be made here */
	assert_int_equal(davy_launch_start(&l, &none, &child), 0);
	group = child.cgroup;
	assert_true(group.dir[0]);
	for (int i = 0; i < 6000 && largest_of(&group) < 600 * 1024; i++)
		usleep(10000);
	assert_true(largest_of(&group) >= 600 * 1024);
	assert_int_equal(davy_launched_stop(&child, &status), 0);
	assert_int_equal(access(group.dir, F_OK), -1);
	davy_launch_done(&l);
}

#define WITH_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

/* The command is a script: its words stay, and the engine's variables are set. */
static void a_scripts_engine_is_changed_by_variables(void **state)
{
	char *script[] = { "/bin/sh", "-c",
			   "echo $LLAMA_ARG_DEVICE $LLAMA_ARG_UBATCH $VK_LOADER_DRIVERS_SELECT "
			   "$VK_DRIVER_FILES $VK_ICD_FILENAMES $CUDA_VISIBLE_DEVICES "
			   "$ROCR_VISIBLE_DEVICES $HIP_VISIBLE_DEVICES >&7",
			   NULL };
	char *engine[] = { "llama-server", "-m", "a.gguf", NULL };
	char *fixed[] = { "llama-server", "-dev", "Vulkan0", NULL };
	const struct davy_engine_override cpu = { .backend = DAVY_BACKEND_CPU,
						  .settings = { .ubatch = 64 } };
	struct davy_engine_look look = { .argv = engine, .exe = "", .parent = "" };
	struct davy_launch l = { .argv = script, .look = &look };
	const struct davy_engine_override gpu = { 0 };
	struct davy_launched child;
	char why[DAVY_ENVIRONMENT_WHY_LEN], said[128] = "";
	int ends[2], status;

	(void)state;
	l.facts.engine = DAVY_ENGINE_LLAMA_SERVER;
	setenv("VK_DRIVER_FILES", "the-users.json", 1);
	setenv("CUDA_VISIBLE_DEVICES", "1", 1);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[1], 7), 7);
	close(ends[1]);
	assert_int_equal(davy_launch_possible(&l, &cpu, why), 0);
	assert_int_equal(davy_launch_start(&l, &cpu, &child), 0);
	assert_int_equal(davy_launched_engine(&child), child.pid);
	assert_true(read(ends[0], said, sizeof(said) - 1) > 0);
	assert_string_equal(said, "none 64 none /nonexistent /nonexistent -1 -1 -1\n");
	assert_int_equal(davy_launched_stop(&child, &status), 0);
	memset(said, 0, sizeof(said));
	assert_int_equal(davy_launch_start(&l, &gpu, &child), 0); /* what the user has set */
	close(7);
	assert_true(read(ends[0], said, sizeof(said) - 1) > 0);
	close(ends[0]);
	assert_string_equal(said, "the-users.json 1\n");
	assert_int_equal(davy_launched_stop(&child, &status), 0);
	unsetenv("VK_DRIVER_FILES");
	unsetenv("CUDA_VISIBLE_DEVICES");
	look.argv = fixed; /* an option of the script overrides the variable */
	assert_int_equal(davy_launch_possible(&l, &cpu, why), -EOPNOTSUPP);
	assert_non_null(strstr(why, "-dev"));
	assert_int_equal(davy_launch_start(&l, &cpu, &child), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stopped_command_leaves_no_process),
		cmocka_unit_test(a_scripts_engine_is_changed_by_variables),
		cmocka_unit_test(each_engine_gets_its_own_options),
		cmocka_unit_test(a_device_has_the_backends_number),
		WITH_ROOT(devices_of_sysfs_and_vulkan_are_one),
		WITH_ROOT(a_servers_display_is_no_gpu),
		WITH_ROOT(the_cpu_is_a_device_only_when_it_is_named),
		WITH_ROOT(answers_that_lie_are_survived),
		cmocka_unit_test(radv_names_its_chip),
		cmocka_unit_test(words_are_quoted_for_a_shell),
		cmocka_unit_test(every_byte_comes_back_from_a_shell),
		WITH_ROOT(ollamas_names_lead_to_blobs),
		WITH_ROOT(a_limit_of_memory_is_set_or_refused),
		WITH_ROOT(libraries_beside_an_engine_are_its_backends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
