/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Module parameters set by the kernel's command line ("amdgpu.runpm=0") or by "options" lines of
 * modprobe.d, and their values in sysfs. As with modprobe, later files override earlier ones, and
 * the command line overrides all.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/file.h"
#include "doctor/read.h"

#define FILE_SIZE 65536
#define FILES_MAX 256

static const char *const modules[] = {
	"amdgpu", "i915", "xe", "nvidia", "radeon", "ttm", "nouveau"
};

ssize_t davy_read_regular(const char *path, char *buf, size_t size)
{
	DAVY_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	return S_ISREG(st.st_mode) ? davy_read_fd(fd, buf, size) : -EINVAL;
}

/* "-" and "_" are equal in names of modules and parameters. */
static bool same_name(const char *a, size_t len, const char *b)
{
	if (strlen(b) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (a[i] != b[i] && !(a[i] == '-' && b[i] == '_'))
			return false;
	return true;
}

static const char *known_module(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (same_name(name, len, modules[i]))
			return modules[i];
	return NULL;
}

static struct davy_doctor_parameter *parameters_place_for(struct davy_doctor_facts *facts,
							  const char *module, const char *name,
							  size_t len)
{
	struct davy_doctor_parameter *p;

	for (size_t i = 0; i < facts->parameter_count; i++) {
		p = &facts->parameter[i];
		if (!strcmp(p->module, module) && same_name(name, len, p->name))
			return p;
	}
	if (facts->parameter_count == DAVY_DOCTOR_PARAMETERS || !len || len >= sizeof(p->name))
		return NULL;
	p = &facts->parameter[facts->parameter_count++];
	memset(p, 0, sizeof(*p));
	davy_copy_name(p->module, sizeof(p->module), module);
	memcpy(p->name, name, len);
	return p;
}

/* "NAME=VALUE" or "NAME", up to "len". */
static void parameters_take(struct davy_doctor_facts *facts, const char *module, const char *word,
			    size_t len, const char *origin)
{
	size_t name = strcspn(word, "= \t\n"), value;
	struct davy_doctor_parameter *p;

	if (name > len)
		name = len;
	p = parameters_place_for(facts, module, word, name);
	if (!p)
		return;
	value = name < len && word[name] == '=' ? name + 1 : len;
	if (len > value && word[value] == '"' && word[len - 1] == '"' && len - value >= 2) {
		value++;
		len--;
	}
	if (len - value >= sizeof(p->configured))
		len = value + sizeof(p->configured) - 1;
	memset(p->configured, 0, sizeof(p->configured));
	if (value < len)
		memcpy(p->configured, word + value, len - value);
	else
		p->configured[0] = '1'; /* a name without a value means 1 */
	davy_copy_name(p->origin, sizeof(p->origin), origin);
}

static void take_command_line(struct davy_doctor_facts *facts, const char *text)
{
	for (const char *at = text; *at; at += strcspn(at, " \n"), at += *at != 0) {
		size_t len = strcspn(at, " \n"), dot = strcspn(at, ".= \n");
		const char *module = at[dot] == '.' ? known_module(at, dot) : NULL;

		if (module && len > dot + 1)
			parameters_take(facts, module, at + dot + 1, len - dot - 1,
					"the kernel's command line");
	}
}

/* One line "options MODULE NAME=VALUE ...". */
static void take_options(struct davy_doctor_facts *facts, const char *line, const char *origin)
{
	const char *at = line + strspn(line, " \t");
	const char *module = NULL;

	if (strncmp(at, "options", 7) != 0 || (at[7] != ' ' && at[7] != '\t'))
		return;
	for (at += 7; *at && *at != '\n';) {
		size_t len;

		at += strspn(at, " \t");
		len = strcspn(at, " \t\n");
		if (!len)
			break;
		if (module)
			parameters_take(facts, module, at, len, origin);
		else
			module = known_module(at, len);
		if (!module)
			return;
		at += len;
	}
}

static void take_file(struct davy_doctor_facts *facts, const char *path)
{
	char *text = calloc(1, FILE_SIZE);

	if (text && davy_read_regular(path, text, FILE_SIZE) > 0)
		for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
			take_options(facts, at, path);
	free(text);
}

static int is_conf(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && !strcmp(entry->d_name + len - 5, ".conf");
}

static void take_folder(struct davy_doctor_facts *facts, const char *folder)
{
	struct dirent **list = NULL;
	char path[PATH_MAX], dir[PATH_MAX];
	int count = davy_root_path(dir, sizeof(dir), "%s", folder)
			    ? 0
			    : scandir(dir, &list, is_conf, alphasort);

	for (int i = 0; i < count; i++) {
		if (i < FILES_MAX &&
		    snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name) < (int)sizeof(path))
			take_file(facts, path);
		free(list[i]);
	}
	free(list);
}

static void read_value(struct davy_doctor_parameter *p)
{
	char path[PATH_MAX];
	ssize_t n;

	if (davy_root_path(path, sizeof(path), "/sys/module/%s", p->module))
		return;
	p->loaded = !access(path, F_OK);
	if (davy_root_path(path, sizeof(path), "/sys/module/%s/parameters/%s", p->module, p->name))
		return;
	n = davy_read_file(path, p->value, sizeof(p->value));
	p->exists = n >= 0 || n == -EACCES;
	p->value[n > 0 ? strcspn(p->value, "\n") : 0] = 0;
}

void davy_read_parameters(struct davy_doctor_facts *facts)
{
	static const char *const folders[] = { "/usr/lib/modprobe.d", "/usr/local/lib/modprobe.d",
					       "/run/modprobe.d", "/etc/modprobe.d" };
	char path[PATH_MAX], text[8192];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		take_folder(facts, folders[i]);
	if (!davy_root_path(path, sizeof(path), "/proc/cmdline") &&
	    davy_read_file(path, text, sizeof(text)) > 0)
		take_command_line(facts, text);
	for (size_t i = 0; i < facts->parameter_count; i++)
		read_value(&facts->parameter[i]);
}
