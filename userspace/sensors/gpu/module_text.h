/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The description of a kernel module's parameter, and its value configured for modprobe. libkmod
 * reads them. It unpacks the whole file (amdgpu of 7.2: 0.4 s and 51 MB) and adds 1.3 MB to the
 * agent. Therefore a child loads it, reads, answers and exits.
 */
#ifndef DAVY_MODULE_TEXT_H
#define DAVY_MODULE_TEXT_H

#include "lib/child.h"

#define DAVY_MODULE_VALUE_MAX 256 /* AMDGPU_MAX_TIMEOUT_PARAM_LENGTH */

struct davy_module_text {
	char description[1024];
	char configured
		[DAVY_MODULE_VALUE_MAX]; /* from modprobe.d or the kernel command line, or "" */
};

/*
 * In this process. "dir" is a module directory, NULL: that of the running kernel. -ENOTSUP without
 * libkmod, -ENOENT if the module's file or the parameter is missing.
 */
int davy_module_text_read(const char *dir, const char *module, const char *parameter,
			  struct davy_module_text *ret_text);

/* In a child. Returns the descriptor of its answer, or -errno. */
int davy_module_text_ask(const char *module, const char *parameter, struct davy_child *ret_child);

/* Call when that is readable: 0, or -ENOENT if there is no answer. */
int davy_module_text_take(int fd, struct davy_module_text *ret_text);

/* "a=1 lockup_timeout=5000,6000": the last value of the parameter, as for modprobe. */
void davy_module_option(const char *options, const char *parameter, char *ret_value, size_t size);

#endif
