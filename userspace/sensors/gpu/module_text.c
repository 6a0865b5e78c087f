/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/gpu/module_text.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libkmod.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/rights.h"

#define CPU_SECONDS 60 /* unpacking in an emulated machine is slow */

struct kmod {
	void *library;
	struct kmod_ctx *(*new)(const char *dir, const char *const *config_paths);
	struct kmod_ctx *(*unref)(struct kmod_ctx *ctx);
	void (*set_log_priority)(struct kmod_ctx *ctx, int priority);
	int (*module_new)(struct kmod_ctx *ctx, const char *name, struct kmod_module **mod);
	struct kmod_module *(*module_unref)(struct kmod_module *mod);
	const char *(*options)(const struct kmod_module *mod);
	int (*info)(const struct kmod_module *mod, struct kmod_list **list);
	void (*info_free)(struct kmod_list *list);
	const char *(*key)(const struct kmod_list *entry);
	const char *(*value)(const struct kmod_list *entry);
	struct kmod_list *(*next)(const struct kmod_list *list, const struct kmod_list *entry);
};

static int module_text_load(struct kmod *k)
{
	const struct {
		const char *name;
		void *place;
	} rows[] = {
		{ "kmod_new", &k->new },
		{ "kmod_unref", &k->unref },
		{ "kmod_set_log_priority", &k->set_log_priority },
		{ "kmod_module_new_from_name", &k->module_new },
		{ "kmod_module_unref", &k->module_unref },
		{ "kmod_module_get_options", &k->options },
		{ "kmod_module_get_info", &k->info },
		{ "kmod_module_info_free_list", &k->info_free },
		{ "kmod_module_info_get_key", &k->key },
		{ "kmod_module_info_get_value", &k->value },
		{ "kmod_list_next", &k->next },
	};

	k->library = dlopen("libkmod.so.2", RTLD_NOW | RTLD_LOCAL);
	if (!k->library)
		return -ENOTSUP;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *function = dlsym(k->library, rows[i].name);

		if (!function) {
			dlclose(k->library);
			return -ENOTSUP;
		}
		memcpy(rows[i].place, &function, sizeof(function));
	}
	return 0;
}

void davy_module_option(const char *options, const char *parameter, char *ret_value, size_t size)
{
	size_t name = strlen(parameter);

	*ret_value = 0;
	while (*options) {
		size_t len = strcspn(options, " \t");

		if (len > name && !strncmp(options, parameter, name) && options[name] == '=')
			snprintf(ret_value, size, "%.*s", (int)(len - name - 1),
				 options + name + 1);
		options += len + strspn(options + len, " \t");
	}
}

/* "parm" is "NAME:DESCRIPTION"; the type is in another entry. */
static int module_text_find_description(const struct kmod *k, struct kmod_list *list,
					const char *parameter, struct davy_module_text *text)
{
	size_t name = strlen(parameter);

	for (struct kmod_list *at = list; at; at = k->next(list, at)) {
		const char *key = k->key(at), *value = k->value(at);

		if (!key || !value || strcmp(key, "parm") != 0 ||
		    strncmp(value, parameter, name) != 0 || value[name] != ':')
			continue;
		snprintf(text->description, sizeof(text->description), "%s", value + name + 1);
		return 0;
	}
	return -ENOENT;
}

static int module_text_read_module(const struct kmod *k, struct kmod_ctx *ctx, const char *module,
				   const char *parameter, struct davy_module_text *text)
{
	struct kmod_list *list = NULL;
	struct kmod_module *mod;
	const char *options;
	int err = k->module_new(ctx, module, &mod);

	if (err < 0)
		return err;
	options = k->options(mod);
	if (options)
		davy_module_option(options, parameter, text->configured, sizeof(text->configured));
	err = k->info(mod, &list);
	err = err < 0 ? err : module_text_find_description(k, list, parameter, text);
	k->info_free(list);
	k->module_unref(mod);
	return err;
}

int davy_module_text_read(const char *dir, const char *module, const char *parameter,
			  struct davy_module_text *ret_text)
{
	struct davy_module_text text = { .description = "" };
	struct kmod_ctx *ctx;
	struct kmod k;
	int err = module_text_load(&k);

	if (err)
		return err;
	ctx = k.new(dir, NULL);
	if (ctx) {
		k.set_log_priority(ctx, 0); /* the caller reports missing files */
		err = module_text_read_module(&k, ctx, module, parameter, &text);
		k.unref(ctx);
	} else {
		err = -ENOMEM;
	}
	dlclose(k.library);
	/* A configured value is useful without a description. */
	if (!err || text.configured[0])
		*ret_text = text;
	return text.configured[0] ? 0 : err;
}

struct question {
	const char *module;
	const char *parameter;
};

static int module_text_answer(void *arg)
{
	const struct davy_rights rights = { .capabilities = 1ULL << CAP_DAC_READ_SEARCH };
	const struct question *q = arg;
	struct davy_module_text text;

	_Static_assert(sizeof(text) <= PIPE_BUF, "an answer is written whole");
	return davy_rights_keep(&rights, getppid()) ||
	       davy_module_text_read(NULL, q->module, q->parameter, &text) ||
	       write(STDOUT_FILENO, &text, sizeof(text)) < 0;
}

int davy_module_text_ask(const char *module, const char *parameter, struct davy_child *ret_child)
{
	const struct davy_child_limit cpu = { RLIMIT_CPU, CPU_SECONDS };
	struct question question = { module, parameter };
	const struct davy_child_spec spec = { .run = module_text_answer,
					      .arg = &question,
					      .limits = &cpu,
					      .limit_count = 1,
					      .death_signal = SIGKILL,
					      .name = "davylamp-modinf" };

	return davy_child_start_piped(&spec, 0, ret_child);
}

int davy_module_text_take(int fd, struct davy_module_text *ret_text)
{
	struct davy_module_text text;

	if (read(fd, &text, sizeof(text)) != sizeof(text))
		return -ENOENT;
	text.description[sizeof(text.description) - 1] = 0;
	text.configured[sizeof(text.configured) - 1] = 0;
	*ret_text = text;
	return 0;
}
