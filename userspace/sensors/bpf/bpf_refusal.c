/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/bpf/bpf_refusal.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/event/types.h"
#include "lib/file.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"
#define LOCKDOWN   "/sys/kernel/security/lockdown"
#define LSM_LIST   "/sys/kernel/security/lsm"

static uint64_t capabilities(void)
{
	char text[4096] = "", *at;

	if (davy_read_file("/proc/self/status", text, sizeof(text)) <= 0)
		return UINT64_MAX;
	at = strstr(text, "\nCapEff:");
	return at ? strtoull(at + 8, NULL, 16) : UINT64_MAX;
}

static bool bpf_refusal_has(uint64_t capabilities, int which)
{
	return capabilities >> which & 1 || capabilities >> CAP_SYS_ADMIN & 1;
}

static bool locked_down(void)
{
	char text[128] = "";

	return davy_read_file(LOCKDOWN, text, sizeof(text)) > 0 &&
	       strstr(text, "[confidentiality]");
}

static const char *right_missing(void)
{
	uint64_t have = capabilities();

	if (!bpf_refusal_has(have, CAP_BPF))
		return "CAP_BPF is missing: run it as root, or give the service that capability";
	if (!bpf_refusal_has(have, CAP_PERFMON))
		return "CAP_PERFMON is missing: programs that trace the kernel need it";
	if (!bpf_refusal_has(have, CAP_SYS_ADMIN))
		return "CAP_SYS_ADMIN is missing: the BTF of kernel modules cannot be read";
	return "this kernel refuses this kind of program, even for root";
}

const char *davy_refusal_text(int err)
{
	switch (err) {
	case -EPERM:
		return right_missing();
	case -EACCES:
		return "the kernel's verifier refused it; 'davylamp run --verbose' shows more";
	case -EINVAL:
		return locked_down()
			       ? "lockdown=confidentiality: the kernel's memory may not be read"
			       : "the kernel refused it as invalid; see 'davylamp run --verbose'";
	case -ENODATA:
		return access(KERNEL_BTF, F_OK) ? "this kernel has no BTF"
						: "the kernel's BTF cannot be read (memory?)";
	case -ENOMEM:
		return "out of memory";
	default:
		return strerrordesc_np(-err) ? strerrordesc_np(-err) : "unknown error";
	}
}

bool davy_rights_missing(void)
{
	uint64_t have = capabilities();

	return !bpf_refusal_has(have, CAP_BPF) || !bpf_refusal_has(have, CAP_PERFMON) ||
	       !bpf_refusal_has(have, CAP_SYS_ADMIN);
}

bool davy_rights_admin(void)
{
	return bpf_refusal_has(capabilities(), CAP_SYS_ADMIN);
}

bool davy_refusal_may_pass(int err)
{
	return err == -ENOENT || err == -ESRCH || err == -EINVAL;
}

const char *davy_lsm_refusal(void)
{
	static char why[DAVY_REASON_LEN]; /* one thread */
	char path[256], list[DAVY_REASON_LEN - 40] = "", *at = list;

	if (davy_root_path(path, sizeof(path), LSM_LIST) ||
	    davy_read_file(path, list, sizeof(list)) <= 0)
		return "'" LSM_LIST "' cannot be read: mount securityfs";
	list[strcspn(list, "\n")] = 0;
	while ((at = strstr(at, "bpf"))) {
		if ((at == list || at[-1] == ',') && (!at[3] || at[3] == ','))
			return NULL;
		at++;
	}
	snprintf(why, sizeof(why), "no quota: boot with 'lsm=%s,bpf'", list);
	return why;
}

bool davy_functions_off(void)
{
	char text[16] = "";

	return davy_read_file("/proc/sys/kernel/ftrace_enabled", text, sizeof(text)) > 0 &&
	       text[0] == '0';
}

enum davy_module_state davy_module_state(const char *module)
{
	char path[128], text[32] = "";

	snprintf(path, sizeof(path), "/sys/module/%s/initstate", module);
	if (davy_read_file(path, text, sizeof(text)) <= 0)
		return DAVY_MODULE_NONE;
	return strncmp(text, "live", 4) != 0 ? DAVY_MODULE_YOUNG : DAVY_MODULE_LIVE;
}
