/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment of one engine in the words of what runs its container: an override file of Docker
 * Compose, a drop-in of Podman's quadlet, a patch of a workload of Kubernetes.
 */
#include <string.h>

#include "output/settings.h"

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

/* -EINVAL: a value cannot be written between double quotes. */
static int container_files_settle(const struct davy_output_request *r, const char **ret_name,
				  struct davy_output_settings *settings,
				  struct davy_output_variables *list,
				  struct davy_output_result *result)
{
	*ret_name = r->container ? r->container : davy_engine_name(davy_output_engine(r));
	if (!**ret_name || strspn(*ret_name, NAME_LETTERS) != strlen(*ret_name))
		return davy_output_refuse(result,
					  "not a name of a service or container; use letters, "
					  "digits, '-', '_' and '.'");
	davy_output_environment(r, settings, list, result);
	for (size_t i = 0; i < list->count; i++)
		if (!davy_output_writable(list->at[i].value, "\"\\$%"))
			return davy_output_refuse(
				result, "the value of %s cannot be written in this format",
				list->at[i].name);
	return r->model_count > 1
		       ? davy_output_refuse(result, "a container has one environment for "
						    "all its models: one --model at most")
		       : 0;
}

/* What is before, between and after a name and its value, with the indentation of both. */
struct form {
	const char *indent, *before, *between, *after;
	const char *none; /* instead of all variables; NULL: nothing */
	void (*head)(FILE *out, const char *name);
};

static int container_files_write(const struct davy_output_request *r, FILE *out,
				 struct davy_output_result *result, const struct form *f)
{
	struct davy_output_variables list = { 0 };
	struct davy_output_settings settings;
	const char *name;
	int err = container_files_settle(r, &name, &settings, &list, result);

	if (err)
		return err;
	f->head(out, name);
	fprintf(out, "%s\n", !list.count && f->none ? f->none : "");
	for (size_t i = 0; i < list.count; i++) {
		if (list.at[i].origin->rule)
			fputs(f->indent, out);
		davy_output_origin(out, list.at[i].name, list.at[i].origin);
		fprintf(out, "%s%s%s%s%s%s\n", f->indent, f->before, list.at[i].name, f->between,
			list.at[i].value, f->after);
	}
	return 0;
}

static void compose_head(FILE *out, const char *name)
{
	fprintf(out,
		"# docker compose -f compose.yaml -f THIS_FILE up -d %s\n"
		"services:\n  %s:\n    environment:",
		name, name);
}

static int compose_write(const struct davy_output_request *r, FILE *out,
			 struct davy_output_result *result)
{
	static const struct form form = { "      ", "", ": \"", "\"", " {}", compose_head };

	return container_files_write(r, out, result, &form);
}

static void quadlet_head(FILE *out, const char *name)
{
	fprintf(out,
		"# /etc/containers/systemd/%s.container.d/50-davylamp.conf (Podman 5.0), then\n"
		"# systemctl daemon-reload && systemctl restart %s\n"
		"[Container]",
		name, name);
}

static int quadlet_write(const struct davy_output_request *r, FILE *out,
			 struct davy_output_result *result)
{
	static const struct form form = { "", "Environment=\"", "=", "\"", NULL, quadlet_head };

	return container_files_write(r, out, result, &form);
}

static void k8s_head(FILE *out, const char *name)
{
	fprintf(out,
		"# kubectl patch statefulset NAME --patch-file THIS_FILE\n"
		"spec:\n  template:\n    spec:\n      containers:\n"
		"      - name: \"%s\"\n        env:",
		name);
}

static int k8s_write(const struct davy_output_request *r, FILE *out,
		     struct davy_output_result *result)
{
	static const struct form form = { "        ", "- name: ", "\n          value: \"",
					  "\"",	      " []",	  k8s_head };

	return container_files_write(r, out, result, &form);
}

const struct davy_output_format davy_output_compose = {
	.name = "compose",
	.what = "override file of a service of Docker Compose",
	.write = compose_write,
};

const struct davy_output_format davy_output_quadlet = {
	.name = "quadlet",
	.what = "drop-in of a container of Podman's quadlet",
	.write = quadlet_write,
};

const struct davy_output_format davy_output_k8s = {
	.name = "k8s",
	.what = "patch of a workload of Kubernetes",
	.write = k8s_write,
};
