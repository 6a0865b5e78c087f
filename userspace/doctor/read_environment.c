/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The service's environment, and the Vulkan drivers that its loader would use, in its order
 * (LoaderDriverInterface.md of Vulkan-Loader 1.3): VK_DRIVER_FILES, or VK_ICD_FILENAMES before it;
 * else folders of the user, of /etc and of /usr/share.
 */
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/file.h"
#include "doctor/read.h"

#define MANIFEST_MAX 65536
#define ENTRIES_MAX  256

static void read_override(struct davy_doctor_gpu *g, const struct davy_who *who)
{
	char name[48];
	const char *value;

	if (!g->has_kfd_node)
		return;
	snprintf(name, sizeof(name), "%s_%u", davy_doctor_variable_name(DAVY_VAR_HSA_OVERRIDE),
		 g->kfd_node);
	value = davy_who_variable(who, name);
	g->has_override = value != NULL;
	davy_copy_name(g->override, sizeof(g->override), value ? value : "");
}

void davy_read_variables(struct davy_doctor_facts *facts, const struct davy_who *who)
{
	for (uint32_t i = 0; i < DAVY_VAR_COUNT; i++) {
		struct davy_doctor_variable *v = &facts->variable[i];
		const char *value = davy_who_variable(who, davy_doctor_variable_name(i));

		v->name = davy_doctor_variable_name(i);
		v->set = value != NULL;
		davy_copy_name(v->value, sizeof(v->value), value ? value : "");
	}
	for (size_t i = 0; i < facts->gpu_count; i++)
		read_override(&facts->gpu[i], who);
}

/* Looks in the folders of /etc/ld.so.conf.d. */
static bool in_conf_folders(const char *name)
{
	char path[PATH_MAX], text[4096];
	struct dirent *entry;
	bool found = false;
	DIR *dir = opendir("/etc/ld.so.conf.d");

	while (dir && !found && (entry = readdir(dir))) {
		if (snprintf(path, sizeof(path), "/etc/ld.so.conf.d/%s", entry->d_name) >=
			    (int)sizeof(path) ||
		    davy_read_regular(path, text, sizeof(text)) <= 0)
			continue;
		for (const char *at = text; *at && !found;
		     at += strcspn(at, "\n"), at += *at == '\n')
			found = *at == '/' &&
				snprintf(path, sizeof(path), "%.*s/%s", (int)strcspn(at, "\n"), at,
					 name) < (int)sizeof(path) &&
				!access(path, F_OK);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Whether the dynamic loader would find a name without a slash. */
static bool library_there(const struct davy_who *who, const char *name)
{
	static const char usual[] =
		"/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu:"
		"/usr/lib64:/lib64:/usr/lib:/lib:/usr/local/lib:/usr/local/lib64";
	const char *own = davy_who_variable(who, "LD_LIBRARY_PATH");
	const char *const lists[] = { own ? own : "", usual };
	char path[PATH_MAX];

	for (size_t i = 0; i < 2; i++) {
		for (const char *at = lists[i]; *at; at += strcspn(at, ":"), at += *at == ':')
			if (snprintf(path, sizeof(path), "%.*s/%s", (int)strcspn(at, ":"), at,
				     name) < (int)sizeof(path) &&
			    !access(path, F_OK))
				return true;
	}
	return in_conf_folders(name);
}

/* A name with a slash is relative to the manifest. */
static void judge_library(const struct davy_who *who, struct davy_doctor_icd *icd)
{
	char path[PATH_MAX], dir[DAVY_DOCTOR_PATH];
	bool good;

	if (!strchr(icd->library, '/')) {
		good = library_there(who, icd->library);
	} else if (icd->library[0] == '/') {
		good = !access(icd->library, F_OK);
	} else {
		davy_copy_name(dir, sizeof(dir), icd->manifest);
		*strrchr(dir, '/') = 0;
		good = snprintf(path, sizeof(path), "%s/%s", dir, icd->library) <
			       (int)sizeof(path) &&
		       !access(path, F_OK);
	}
	if (!good)
		davy_copy_name(icd->why, sizeof(icd->why), "its library does not exist");
}

static void read_manifest(struct davy_doctor_facts *facts, const struct davy_who *who,
			  const char *path)
{
	struct davy_doctor_icd *icd = &facts->icd[facts->icd_count];
	const char *library, *arch;
	json_t *root = NULL;
	char *text;
	ssize_t n;

	if (facts->icd_count == DAVY_DOCTOR_ICDS)
		return;
	memset(icd, 0, sizeof(*icd));
	davy_copy_name(icd->manifest, sizeof(icd->manifest), path);
	text = malloc(MANIFEST_MAX);
	n = text ? davy_read_regular(path, text, MANIFEST_MAX) : -1;
	if (n > 0)
		root = json_loadb(text, (size_t)n, 0, NULL);
	free(text);
	library = json_string_value(json_object_get(json_object_get(root, "ICD"), "library_path"));
	arch = json_string_value(json_object_get(json_object_get(root, "ICD"), "library_arch"));
	if (arch && strcmp(arch, "64") != 0) { /* the loader ignores it */
		json_decref(root);
		return;
	}
	facts->icd_count++;
	if (n < 0)
		snprintf(icd->why, sizeof(icd->why), "it cannot be read: %s", strerror((int)-n));
	else if (!library)
		davy_copy_name(icd->why, sizeof(icd->why), "not a driver manifest");
	davy_copy_name(icd->library, sizeof(icd->library), library ? library : "");
	json_decref(root);
	if (!icd->why[0])
		judge_library(who, icd);
}

static int is_manifest(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && !strcmp(entry->d_name + len - 5, ".json");
}

static void environment_read_folder(struct davy_doctor_facts *facts, const struct davy_who *who,
				    const char *dir)
{
	struct dirent **list = NULL;
	char path[PATH_MAX];
	int count = scandir(dir, &list, is_manifest, alphasort);

	for (int i = 0; i < count; i++) {
		if (i < ENTRIES_MAX &&
		    snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name) < (int)sizeof(path))
			read_manifest(facts, who, path);
		free(list[i]);
	}
	free(list);
}

/* Files and folders, separated by ':'. */
static void read_list(struct davy_doctor_facts *facts, const struct davy_who *who, const char *list)
{
	char path[PATH_MAX];
	struct stat st;

	for (const char *at = list; *at; at += strcspn(at, ":"), at += *at == ':') {
		int len = (int)strcspn(at, ":");

		if (!len || snprintf(path, sizeof(path), "%.*s", len, at) >= (int)sizeof(path))
			continue;
		if (!stat(path, &st) && S_ISDIR(st.st_mode))
			environment_read_folder(facts, who, path);
		else if (strchr(path, '/'))
			read_manifest(facts, who, path);
	}
}

static void read_below(struct davy_doctor_facts *facts, const struct davy_who *who,
		       const char *list)
{
	char path[PATH_MAX];

	for (const char *at = list; *at; at += strcspn(at, ":"), at += *at == ':')
		if (snprintf(path, sizeof(path), "%.*s/vulkan/icd.d", (int)strcspn(at, ":"), at) <
		    (int)sizeof(path))
			environment_read_folder(facts, who, path);
}

static const char *variable_or(const struct davy_who *who, const char *name, const char *otherwise)
{
	const char *value = davy_who_variable(who, name);

	return value && *value ? value : otherwise;
}

static void read_usual(struct davy_doctor_facts *facts, const struct davy_who *who)
{
	const char *home = davy_who_variable(who, "HOME");
	char config[PATH_MAX] = "", data[PATH_MAX] = "";

	if (home) {
		snprintf(config, sizeof(config), "%s/.config", home);
		snprintf(data, sizeof(data), "%s/.local/share", home);
	}
	read_below(facts, who, variable_or(who, "XDG_CONFIG_HOME", config));
	read_below(facts, who, variable_or(who, "XDG_CONFIG_DIRS", "/etc/xdg"));
	read_below(facts, who, "/etc");
	read_below(facts, who, variable_or(who, "XDG_DATA_HOME", data));
	read_below(facts, who, variable_or(who, "XDG_DATA_DIRS", "/usr/local/share:/usr/share"));
}

/* Runs in a child like "who": its loader cannot read other files either. */
static void read_icds(struct davy_doctor_facts *facts, const struct davy_who *who)
{
	const struct davy_doctor_variable *files = &facts->variable[DAVY_VAR_VK_DRIVER_FILES];
	const struct davy_doctor_variable *add = &facts->variable[DAVY_VAR_VK_ADD_DRIVER_FILES];
	const char *name;

	if (!files->set || !files->value[0])
		files = &facts->variable[DAVY_VAR_VK_ICD_FILENAMES];
	if (files->set && files->value[0]) {
		name = files->name;
		davy_copy_name(facts->icds_from, sizeof(facts->icds_from), name);
		read_list(facts, who, davy_who_variable(who, name));
	} else {
		davy_copy_name(facts->icds_from, sizeof(facts->icds_from), "the loader's folders");
		if (add->set)
			read_list(facts, who, davy_who_variable(who, add->name));
		read_usual(facts, who);
	}
	facts->icds_looked = true;
}

void davy_read_icds(struct davy_doctor_facts *facts, const struct davy_who *who)
{
	davy_who_do(who, facts, "Vulkan's manifests", read_icds);
}
