/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths of cgroups in the formats of systemd and the container runtimes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "sensors/proc/cgroup_name.h"

#define ID "3f4e1d9c0b7a58e6d2f1c4b3a69788775a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d"

static const struct {
	const char *path;
	enum davy_runtime runtime;
	bool user_unit;
	const char *unit;
	const char *container;
	const char *pod;
} cases[] = {
	{ "/", DAVY_RUNTIME_NONE, false, "", "", "" },
	{ "/system.slice/ollama.service", DAVY_RUNTIME_NONE, false, "ollama.service", "", "" },
	{ "/system.slice/system-llama.slice/llama@big\\x2dmodel.service", DAVY_RUNTIME_NONE, false,
	  "llama@big\\x2dmodel.service", "", "" },
	{ "/user.slice/user-1000.slice/session-2.scope", DAVY_RUNTIME_NONE, false,
	  "session-2.scope", "", "" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/ollama.service",
	  DAVY_RUNTIME_NONE, true, "ollama.service", "", "" },
	{ "/user.slice/user-1000.slice/user@1000.service/init.scope", DAVY_RUNTIME_NONE, true,
	  "user@1000.service", "", "" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-lmstudio-4242.scope",
	  DAVY_RUNTIME_NONE, true, "app-gnome-lmstudio-4242.scope", "", "" },
	{ "/system.slice/docker-" ID ".scope", DAVY_RUNTIME_DOCKER, false, "", ID, "" },
	{ "/docker/" ID, DAVY_RUNTIME_DOCKER, false, "", ID, "" },
	{ "/system.slice/docker.service", DAVY_RUNTIME_NONE, false, "docker.service", "", "" },
	{ "/docker/" ID "/init", DAVY_RUNTIME_DOCKER, false, "", ID, "" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/docker-" ID ".scope",
	  DAVY_RUNTIME_DOCKER, true, "", ID, "" },
	{ "/machine.slice/libpod-" ID ".scope/container", DAVY_RUNTIME_PODMAN, false, "", ID, "" },
	{ "/machine.slice/libpod-conmon-" ID ".scope", DAVY_RUNTIME_NONE, false,
	  "libpod-conmon-" ID ".scope", "", "" },
	{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope",
	  DAVY_RUNTIME_PODMAN, true, "", ID, "" },
	{ "/system.slice/llama.service/libpod-payload-" ID, DAVY_RUNTIME_PODMAN, false,
	  "llama.service", ID, "" },
	{ "/libpod_parent/libpod-" ID, DAVY_RUNTIME_PODMAN, false, "", ID, "" },
	{ "/system.slice/nerdctl-" ID ".scope", DAVY_RUNTIME_CONTAINERD, false, "", ID, "" },
	{ "/default/" ID, DAVY_RUNTIME_OTHER, false, "", ID, "" },
	{ "/kubepods.slice/kubepods-burstable.slice/"
	  "kubepods-burstable-pod8f2b1c34_aaaa_4bbb_8ccc_0123456789ab.slice/cri-containerd-" ID
	  ".scope",
	  DAVY_RUNTIME_CONTAINERD, false, "", ID, "8f2b1c34-aaaa-4bbb-8ccc-0123456789ab" },
	{ "/kubepods.slice/kubepods-pod8f2b1c34_aaaa_4bbb_8ccc_0123456789ab.slice/crio-" ID
	  ".scope",
	  DAVY_RUNTIME_CRIO, false, "", ID, "8f2b1c34-aaaa-4bbb-8ccc-0123456789ab" },
	{ "/kubepods.slice/kubepods-pod8f2b1c34_aaaa_4bbb_8ccc_0123456789ab.slice"
	  ":cri-containerd:" ID,
	  DAVY_RUNTIME_CONTAINERD, false, "", ID, "8f2b1c34-aaaa-4bbb-8ccc-0123456789ab" },
	{ "/system.slice:docker:" ID, DAVY_RUNTIME_DOCKER, false, "", ID, "" },
	{ "/system.slice/dbus-:1.2-org.llama@0.service", DAVY_RUNTIME_NONE, false,
	  "dbus-:1.2-org.llama@0.service", "", "" },
	{ "/kubepods/besteffort/pod8f2b1c34-aaaa-4bbb-8ccc-0123456789ab/" ID,
	  DAVY_RUNTIME_CONTAINERD, false, "", ID, "8f2b1c34-aaaa-4bbb-8ccc-0123456789ab" },
	{ "/lxc/gpubox/ns/system.slice/ollama.service", DAVY_RUNTIME_LXC, false, "ollama.service",
	  "gpubox", "" },
	{ "/lxc.payload.gpu-box/system.slice/ollama.service", DAVY_RUNTIME_LXC, false,
	  "ollama.service", "gpu-box", "" },
	{ "/lxc.monitor.gpubox", DAVY_RUNTIME_NONE, false, "", "", "" },
	{ "/machine.slice/machine-gpu\\x2dbox.scope", DAVY_RUNTIME_NSPAWN, false, "", "gpu-box",
	  "" },
	{ "/machine.slice/systemd-nspawn@box.service/payload/system.slice/vllm.service",
	  DAVY_RUNTIME_NSPAWN, false, "vllm.service", "box", "" },
	{ "/machine.slice/machine-qemu\\x2d1\\x2dwin.scope/libvirt/emulator", DAVY_RUNTIME_NONE,
	  false, "machine-qemu\\x2d1\\x2dwin.scope", "", "" },
	{ "/lxc.payload.outer/docker/" ID, DAVY_RUNTIME_DOCKER, false, "", ID, "" },
	{ "/davylamp-exec-5", DAVY_RUNTIME_NONE, false, "", "", "" },
	{ "/system.slice/docker-zz.scope", DAVY_RUNTIME_NONE, false, "docker-zz.scope", "", "" },
	{ "/../../system.slice/ollama.service", DAVY_RUNTIME_NONE, false, "ollama.service", "",
	  "" },
};

static void paths_of_every_runtime_are_understood(void **state)
{
	struct davy_cgroup_name n;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char unit[DAVY_UNIT_LEN];

		davy_copy_name(unit, sizeof(unit), cases[i].unit);
		davy_cgroup_name_of(cases[i].path, &n);
		if (n.runtime != cases[i].runtime || n.user_unit != cases[i].user_unit ||
		    strcmp(n.unit, unit) != 0 || strcmp(n.container, cases[i].container) != 0 ||
		    strcmp(n.pod, cases[i].pod) != 0)
			fail_msg("'%s': runtime %s, unit '%s', container '%s', pod '%s'",
				 cases[i].path, davy_runtime_name(n.runtime), n.unit, n.container,
				 n.pod);
	}
}

static void the_most_specific_hierarchy_names_the_cgroup(void **state)
{
	struct davy_cgroup_name n;

	(void)state;
	davy_cgroup_name_read("12:memory:/docker/" ID "\n11:cpu,cpuacct:/docker/" ID "\n"
			      "1:name=systemd:/docker/" ID
			      "\n0::/system.slice/containerd.service\n",
			      &n);
	assert_int_equal(n.runtime, DAVY_RUNTIME_DOCKER);
	assert_string_equal(n.container, ID);
	davy_cgroup_name_read(
		"5:devices:/user.slice\n1:name=systemd:/system.slice/a.service\n0::/\n", &n);
	assert_string_equal(n.unit, "a.service");
	davy_cgroup_name_read(
		"1:name=systemd:/system.slice/a.service\n0::/system.slice/b.service\n", &n);
	assert_string_equal(n.unit, "b.service");
	davy_cgroup_name_read("0::/system.slice/a:b.service\n", &n);
	assert_string_equal(n.unit, "a:b.service");
}

static void hostile_names_are_cut_and_not_obeyed(void **state)
{
	static char path[20000];
	struct davy_cgroup_name n;

	(void)state;
	davy_cgroup_name_read("", &n);
	davy_cgroup_name_read("\n\n::\n:", &n);
	davy_cgroup_name_read("0::", &n);
	davy_cgroup_name_read("0::/\xff\x1b[2J\n", &n);
	assert_string_equal(n.unit, "");
	davy_cgroup_name_of("lxc", &n);
	davy_cgroup_name_of("/lxc.payload.", &n);
	davy_cgroup_name_of("/machine-\\x.scope", &n);
	assert_string_equal(n.container, "\\x");
	davy_cgroup_name_of("/kubepods/pod/x", &n);
	assert_string_equal(n.pod, "");
	memset(path, 'a', sizeof(path) - 1);
	memcpy(path, "0::/lxc/", 8);
	memcpy(path + sizeof(path) - 9, ".service", 8);
	davy_cgroup_name_read(path, &n);
	assert_int_equal(strlen(n.container), sizeof(n.container) - 1);
	for (size_t i = 0; i < sizeof(path) - 1; i++)
		path[i] = i % 2 ? 'x' : '/';
	davy_cgroup_name_of(path, &n);
	assert_int_equal(n.runtime, DAVY_RUNTIME_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_of_every_runtime_are_understood),
		cmocka_unit_test(the_most_specific_hierarchy_names_the_cgroup),
		cmocka_unit_test(hostile_names_are_cut_and_not_obeyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
