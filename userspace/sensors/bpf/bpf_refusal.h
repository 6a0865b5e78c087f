/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a kernel program could not be had, in words that name the cause, not the errno. */
#ifndef DL_SENSORS_BPF_REFUSAL_H
#define DL_SENSORS_BPF_REFUSAL_H

#include <stdbool.h>

/* Of -errno; the text is static. Asks the kernel about capabilities and lockdown. */
const char *dl_refusal_text(int err);

/* Whether the process lacks a capability that some program needs. */
bool dl_rights_missing(void);

/* Whether it has CAP_SYS_ADMIN. */
bool dl_rights_admin(void);

/* Whether trying again may help: never where a right is missing. */
bool dl_refusal_may_pass(int err);

/* kernel.ftrace_enabled is 0: programs on functions attach, and are never called. */
bool dl_functions_off(void);

enum dl_module_state {
	DL_MODULE_NONE,	 /* not loaded */
	DL_MODULE_YOUNG, /* its init runs: functions cannot be traced yet */
	DL_MODULE_LIVE,
};

enum dl_module_state dl_module_state(const char *module);

#endif
