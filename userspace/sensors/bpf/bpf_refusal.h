/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a kernel program could not be had, in words that name the cause, not the errno. */
#ifndef DAVY_BPF_REFUSAL_H
#define DAVY_BPF_REFUSAL_H

#include <stdbool.h>

/* Of -errno; the text is static. Asks the kernel about capabilities and lockdown. */
const char *davy_refusal_text(int err);

/* Whether the process lacks a capability that some program needs. */
bool davy_rights_missing(void);

/* Whether it has CAP_SYS_ADMIN. */
bool davy_rights_admin(void);

/* Whether trying again may help: never where a right is missing. */
bool davy_refusal_may_pass(int err);

/* Why no BPF program is asked by the security hooks; NULL: they are. */
const char *davy_lsm_refusal(void);

/* kernel.ftrace_enabled is 0: programs on functions attach, and are never called. */
bool davy_functions_off(void);

enum davy_module_state {
	DAVY_MODULE_NONE,  /* not loaded */
	DAVY_MODULE_YOUNG, /* its init runs: functions cannot be traced yet */
	DAVY_MODULE_LIVE,
};

enum davy_module_state davy_module_state(const char *module);

#endif
