/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/gpu/driver_version.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/text.h"
#include "sensors/proc/build_id.h"

#define WORD_LEN 32

/* One word of a file, sanitized; "" if missing. */
static void driver_version_read_word(const char *module, const char *name, char ret_word[WORD_LEN])
{
	char path[PATH_MAX], text[256];

	ret_word[0] = 0;
	if (davy_root_path(path, sizeof(path), "/sys/module/%s/%s", module, name) ||
	    davy_read_file(path, text, sizeof(text)) <= 0)
		return;
	text[strcspn(text, " \t\n")] = 0;
	davy_text_safe(ret_word, WORD_LEN, text);
}

/*
 * "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 ...": the first word that
 * is a number with a dot, for builds whose module has no version.
 */
static void driver_version_read_nvidia(char ret_word[WORD_LEN])
{
	char path[PATH_MAX], text[512], *rest = text, *word;

	if (davy_root_path(path, sizeof(path), "/proc/driver/nvidia/version") ||
	    davy_read_file(path, text, sizeof(text)) <= 0)
		return;
	text[strcspn(text, "\n")] = 0;
	while ((word = strsep(&rest, " \t"))) {
		if (!isdigit((unsigned char)word[0]) || !strchr(word, '.'))
			continue;
		davy_text_safe(ret_word, WORD_LEN, word);
		return;
	}
}

/* The build id of the module; 16 digits are enough. */
static void driver_version_read_build(const char *module, char ret_word[WORD_LEN])
{
	unsigned char notes[256];
	struct davy_build_id id;
	char path[PATH_MAX];
	ssize_t n;

	if (davy_root_path(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", module))
		return;
	n = davy_read_file(path, (char *)notes, sizeof(notes));
	if (n > 0 && !davy_build_id_in_notes(notes, (size_t)n, 4, &id))
		snprintf(ret_word, WORD_LEN, "build %016" PRIx64, davy_build_id_head(&id));
}

void davy_driver_version_read(const char *driver, char ret_text[DAVY_VERSION_TEXT_LEN])
{
	char module[24], version[WORD_LEN], source[WORD_LEN];

	ret_text[0] = 0;
	davy_copy_name(module, sizeof(module), driver);
	for (char *c = module; *c; c++)
		*c = *c == '-' ? '_' : *c; /* as in the name of a module's directory */
	if (!module[0] || strchr(module, '/') || module[0] == '.')
		return;
	driver_version_read_word(module, "version", version);
	driver_version_read_word(module, "srcversion", source);
	if (!version[0] && !strcmp(module, "nvidia"))
		driver_version_read_nvidia(version);
	if (!version[0] && !source[0])
		driver_version_read_build(module, source);
	snprintf(ret_text, DAVY_VERSION_TEXT_LEN, "%s%s%s%s%s%s", module, version[0] ? " " : "",
		 version, source[0] ? " (" : "", source, source[0] ? ")" : "");
}

void davy_driver_of_device(const char *device, char *ret_driver, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX], *slash;
	ssize_t n;

	*ret_driver = 0;
	if (!strchr(device, ':') || strchr(device, '/') ||
	    davy_root_path(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", device))
		return;
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return;
	target[n] = 0;
	slash = strrchr(target, '/');
	davy_copy_name(ret_driver, size, slash ? slash + 1 : target);
}
