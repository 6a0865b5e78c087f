/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options as documented for coreutils 9.7 (chroot, env, nice, nohup, stdbuf, timeout), util-linux
 * 2.41 (ionice, setpriv, taskset), numactl 2.0.19 and sudo 1.9.16. All of them stop at the first
 * word that is no option. An option that is not in its row may have a value, or may mean that no
 * command is run: such a command line is not looked through.
 */
#include "engines/wrapper.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "engines/command.h"
#include "lib/text.h"

#define WRAPPERS_MAX 8
#define NAME_MAX_LEN 64

struct wrapper_row {
	const char *program;
	const char *values; /* letters of the options with a value */
	const char *flags;  /* letters of those without */
	const char *long_values;
	const char *long_flags; /* some have an optional value, only as "--name=value" */
	const char *clears;	/* words that discard the environment; "*": it always does */
	unsigned int operands;	/* words between the options and the command */
	char clears_letter;
	bool assigns; /* NAME=VALUE words may come before the command */
	bool numbers; /* "-5" is an option */
};

static const struct wrapper_row wrapper_rows[] = {
	{ .program = "chroot",
	  .long_values = "--groups --userspec",
	  .long_flags = "--skip-chdir",
	  .operands = 1 },
	{ .program = "env",
	  .values = "aCu",
	  .flags = "iv",
	  .long_values = "--argv0 --chdir --unset",
	  .long_flags = "--ignore-environment --block-signal --default-signal --ignore-signal "
			"--list-signal-handling --debug",
	  .clears = "- --ignore-environment",
	  .clears_letter = 'i',
	  .assigns = true },
	{ .program = "ionice",
	  .values = "cn",
	  .flags = "t",
	  .long_values = "--class --classdata",
	  .long_flags = "--ignore" },
	{ .program = "nice", .values = "n", .long_values = "--adjustment", .numbers = true },
	{ .program = "nohup" },
	{ .program = "numactl",
	  .values = "CNcimpPw",
	  .flags = "abl",
	  .long_values = "--cpubind --cpunodebind --interleave --membind --physcpubind "
			 "--preferred --preferred-many --weighted-interleave",
	  .long_flags = "--all --balancing --localalloc" },
	{ .program = "setpriv",
	  .long_values = "--ambient-caps --apparmor-profile --bounding-set --egid --euid --groups "
			 "--inh-caps --landlock-access --landlock-rule --pdeathsig --ptracer "
			 "--regid --reuid --rgid --ruid --seccomp-filter --securebits "
			 "--selinux-label",
	  .long_flags = "--clear-groups --init-groups --keep-groups --no-new-privs --reset-env",
	  .clears = "--reset-env" },
	{ .program = "stdbuf", .values = "ioe", .long_values = "--input --output --error" },
	{ .program = "sudo",
	  .values = "CDghpRrTtUu",
	  .flags = "ABEHkNnPS",
	  .long_values = "--chdir --chroot --close-from --command-timeout --group --host "
			 "--other-user --prompt --role --type --user",
	  .long_flags = "--askpass --bell --no-update --non-interactive --preserve-env "
			"--preserve-groups --reset-timestamp --set-home --stdin",
	  .clears = "*",
	  .assigns = true },
	{ .program = "taskset",
	  .flags = "ac",
	  .long_flags = "--all-tasks --cpu-list",
	  .operands = 1 },
	{ .program = "timeout",
	  .values = "ks",
	  .flags = "fpv",
	  .long_values = "--kill-after --signal",
	  .long_flags = "--foreground --preserve-status --verbose",
	  .operands = 1 },
};

static const struct wrapper_row *wrapper_row_of(const char *program)
{
	const char *name = davy_base_name(program);

	for (size_t i = 0; i < sizeof(wrapper_rows) / sizeof(wrapper_rows[0]); i++)
		if (!strcmp(wrapper_rows[i].program, name))
			return &wrapper_rows[i];
	return NULL;
}

static bool wrapper_is_letter(const char *letters, char c)
{
	return letters && c && strchr(letters, c);
}

/* How many words the option takes; 0: the row lacks it. */
static size_t wrapper_long(const struct wrapper_row *row, const char *word)
{
	size_t len = strcspn(word, "=");
	char name[NAME_MAX_LEN];

	if (len >= sizeof(name))
		return 0;
	memcpy(name, word, len);
	name[len] = 0;
	if (davy_word_in(row->long_values, name))
		return word[len] ? 1 : 2;
	return davy_word_in(row->long_flags, name) ? 1 : 0;
}

static size_t wrapper_short(const struct wrapper_row *row, const char *word, bool *clears)
{
	for (const char *at = word + 1; *at; at++) {
		if (wrapper_is_letter(row->values, *at))
			return at[1] ? 1 : 2;
		if (!wrapper_is_letter(row->flags, *at))
			return 0;
		*clears = *clears || *at == row->clears_letter;
	}
	return 1;
}

/* "-" alone is an option of env. */
static size_t wrapper_option(const struct wrapper_row *row, const char *word, bool *clears)
{
	*clears = *clears || davy_word_in(row->clears, word);
	if (!word[1])
		return *clears;
	if (row->numbers && isdigit((unsigned char)word[1 + (word[1] == '-')]))
		return 1;
	return word[1] == '-' ? wrapper_long(row, word) : wrapper_short(row, word, clears);
}

static bool wrapper_is_assignment(const char *word)
{
	const char *equals = strchr(word, '=');

	return equals && equals != word;
}

/* The command behind one wrapper; NULL: unknown. */
static char *const *wrapper_behind(const struct wrapper_row *row, char *const *at,
				   struct davy_wrapped *w)
{
	bool clears = row->clears && !strcmp(row->clears, "*");

	for (; *at && (*at)[0] == '-'; at++) {
		size_t words;

		if (!strcmp(*at, "--")) {
			at++;
			break;
		}
		words = wrapper_option(row, *at, &clears);
		if (!words || (words == 2 && !at[1]))
			return NULL;
		at += words - 1;
	}
	while (row->assigns && *at && wrapper_is_assignment(*at))
		at++;
	for (unsigned int i = 0; i < row->operands && *at; i++)
		at++;
	if (!*at)
		return NULL;
	if (!strcmp(row->program, "chroot"))
		w->root = at[-1];
	w->own_environment = w->own_environment || clears;
	return at;
}

void davy_wrapped_of(char *const argv[], struct davy_wrapped *ret_wrapped)
{
	struct davy_wrapped w = { .argv = argv };

	for (int i = 0; i < WRAPPERS_MAX && w.argv && w.argv[0]; i++) {
		const struct wrapper_row *row = wrapper_row_of(w.argv[0]);
		char *const *behind = row ? wrapper_behind(row, w.argv + 1, &w) : NULL;

		if (!behind)
			break;
		w.argv = behind;
	}
	*ret_wrapped = w;
}
