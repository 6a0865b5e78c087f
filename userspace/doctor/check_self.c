/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What davylamp needs from the kernel. Never a cause of an engine's failure. */
#include <stdint.h>
#include <string.h>

#include "doctor/checks.h"

/* From linux/capability.h. */
#define CAP_NET_ADMIN  12
#define CAP_SYS_PTRACE 19
#define CAP_SYS_ADMIN  21
#define CAP_PERFMON    38
#define CAP_BPF	       39

DAVY_CHECK(btf)
{
	struct davy_finding *f;

	if (facts->self.btf) {
		f = davy_finding_add(findings, check, DAVY_FOUND_OK, 0, "");
		davy_finding_evidence(f, "/sys/kernel/btf/vmlinux exists");
		return;
	}
	f = davy_finding_add(findings, check, DAVY_FOUND_WARNING, 0, "");
	davy_finding_evidence(
		f, "no /sys/kernel/btf/vmlinux: davylamp cannot load its BPF programs, and "
		   "watches only logs and sysfs");
	davy_finding_fix(f, "run a kernel built with CONFIG_DEBUG_INFO_BTF");
	davy_finding_verify(f, "test -e /sys/kernel/btf/vmlinux");
}

DAVY_CHECK(ftrace)
{
	struct davy_finding *f = davy_finding_add(
		findings, check, facts->self.ftrace_off ? DAVY_FOUND_WARNING : DAVY_FOUND_OK, 0,
		"");

	if (!facts->self.ftrace_off) {
		davy_finding_evidence(f, "kernel.ftrace_enabled is not 0");
		return;
	}
	davy_finding_evidence(f, "kernel.ftrace_enabled is 0: traced functions report no calls");
	davy_finding_fix(f, "sysctl kernel.ftrace_enabled=1");
	davy_finding_verify(f, "sysctl kernel.ftrace_enabled");
}

DAVY_CHECK(lockdown)
{
	const char *word = facts->self.lockdown;
	struct davy_finding *f;

	if (!word[0]) {
		davy_check_not_needed(findings, check,
				      "this kernel has no lockdown, or does not show it");
		return;
	}
	f = davy_finding_add(findings, check,
			     strcmp(word, "confidentiality") ? DAVY_FOUND_OK : DAVY_FOUND_WARNING,
			     0, "");
	davy_finding_evidence(f, "%s", word);
	if (f->verdict == DAVY_FOUND_OK)
		return;
	davy_finding_evidence(f, "confidentiality: exceptions and requests of an engine cannot be "
				 "read from its memory");
	davy_finding_fix(f, "boot with lockdown=integrity, if this is permitted");
	davy_finding_verify(f, "cat /sys/kernel/security/lockdown");
}

DAVY_CHECK(capabilities)
{
	static const struct {
		unsigned int bit;
		const char *name;
	} rows[] = {
		{ CAP_BPF, "CAP_BPF" },
		{ CAP_PERFMON, "CAP_PERFMON" },
		{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
		{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },
		{ CAP_NET_ADMIN, "CAP_NET_ADMIN" },
	};
	char missing[128] = "";
	struct davy_finding *f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!(facts->self.capabilities >> rows[i].bit & 1)) {
			strncat(missing, missing[0] ? ", " : "",
				sizeof(missing) - strlen(missing) - 1);
			strncat(missing, rows[i].name, sizeof(missing) - strlen(missing) - 1);
		}
	f = davy_finding_add(findings, check, missing[0] ? DAVY_FOUND_UNCHECKED : DAVY_FOUND_OK, 0,
			     "");
	if (!missing[0]) {
		davy_finding_evidence(f, "all that the agent needs");
		return;
	}
	davy_finding_evidence(f, "this process lacks %s: checks that need root were skipped",
			      missing);
	davy_finding_fix(f, "run 'davylamp doctor' as root");
	davy_finding_verify(f, "grep CapEff /proc/self/status");
}
