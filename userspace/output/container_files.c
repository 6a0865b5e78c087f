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

/* A comment; none of a value without a rule. */
static void container_files_origin(FILE *out, const char *indent, const struct davy_output_pair *p)
{
	if (p->origin->rule)
		fputs(indent, out);
	davy_output_origin(out, p->name, p->origin);
}

static int compose_write(const struct davy_output_request *r, FILE *out,
			 struct davy_output_result *result)
{
	struct davy_output_variables list = { 0 };
	struct davy_output_settings settings;
	const char *name;
	int err = container_files_settle(r, &name, &settings, &list, result);

	fprintf(out,
		"# docker compose -f compose.yaml -f THIS_FILE up -d %s\n"
		"services:\n  %s:\n    environment:%s\n",
		name, name, list.count ? "" : " {}");
	for (size_t i = 0; i < list.count; i++) {
		container_files_origin(out, "      ", &list.at[i]);
		fprintf(out, "      %s: \"%s\"\n", list.at[i].name, list.at[i].value);
	}
	return err;
}

static int quadlet_write(const struct davy_output_request *r, FILE *out,
			 struct davy_output_result *result)
{
	struct davy_output_variables list = { 0 };
	struct davy_output_settings settings;
	const char *name;
	int err = container_files_settle(r, &name, &settings, &list, result);

	fprintf(out,
		"# /etc/containers/systemd/%s.container.d/50-davylamp.conf (Podman 5.0), then\n"
		"# systemctl daemon-reload && systemctl restart %s\n"
		"[Container]\n",
		name, name);
	for (size_t i = 0; i < list.count; i++) {
		davy_output_origin(out, list.at[i].name, list.at[i].origin);
		fprintf(out, "Environment=\"%s=%s\"\n", list.at[i].name, list.at[i].value);
	}
	return err;
}

static int k8s_write(const struct davy_output_request *r, FILE *out,
		     struct davy_output_result *result)
{
	struct davy_output_variables list = { 0 };
	struct davy_output_settings settings;
	const char *name;
	int err = container_files_settle(r, &name, &settings, &list, result);

	fprintf(out,
		"# kubectl patch statefulset NAME --patch-file THIS_FILE\n"
		"spec:\n  template:\n    spec:\n      containers:\n"
		"      - name: \"%s\"\n        env:%s\n",
		name, list.count ? "" : " []");
	for (size_t i = 0; i < list.count; i++) {
		container_files_origin(out, "        ", &list.at[i]);
		fprintf(out, "        - name: %s\n          value: \"%s\"\n", list.at[i].name,
			list.at[i].value);
	}
	return err;
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
