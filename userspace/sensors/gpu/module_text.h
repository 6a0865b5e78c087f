/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a kernel module's file says of a parameter, and what modprobe was told to set it to: by
 * libkmod, which unpacks the whole file (7.2's amdgpu: 0.4 s and 51 MB) and is itself 1.3 MB that
 * the agent does not carry along. So a child loads it, reads, tells and ends.
 */
#ifndef DAVY_MODULE_TEXT_H
#define DAVY_MODULE_TEXT_H

#include "lib/child.h"

#define DAVY_MODULE_VALUE_MAX 256 /* AMDGPU_MAX_TIMEOUT_PARAM_LENGTH */

struct davy_module_text {
	char description[1024];
	char configured
		[DAVY_MODULE_VALUE_MAX]; /* by modprobe.d or the kernel's command line, or "" */
};

/*
 * In this process. "dir" is a folder of modules, NULL the running kernel's. -ENOTSUP without
 * libkmod, -ENOENT when the module's file or the parameter in it is not there.
 */
int davy_module_text_read(const char *dir, const char *module, const char *parameter,
			  struct davy_module_text *ret_text);

/* By a child; returns where its answer comes, or -errno. */
int davy_module_text_ask(const char *module, const char *parameter, struct davy_child *ret_child);

/* Once that is readable: 0, or -ENOENT when the child had nothing to tell. */
int davy_module_text_take(int fd, struct davy_module_text *ret_text);

/* "a=1 lockup_timeout=5000,6000": the last value of the parameter, as modprobe would have it. */
void davy_module_option(const char *options, const char *parameter, char *ret_value, size_t size);

#endif
