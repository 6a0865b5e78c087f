/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/options.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>

#include "lib/log.h"

int davy_options_read(int argc, char **argv, enum davy_options_mode mode, const char *usage,
		      const struct davy_option *options)
{
	struct option names[DAVY_OPTIONS_MAX + 2] = { { "help", no_argument, NULL, 'h' } };
	int c, index = 0;

	for (int i = 0; options[i].name; i++) {
		assert(i < DAVY_OPTIONS_MAX);
		names[i + 1] = (struct option){ options[i].name,
						options[i].flag ? no_argument : required_argument,
						NULL, 0 };
	}
	while ((c = getopt_long(argc, argv, mode == DAVY_OPTIONS_FIRST ? "+h" : "h", names,
				&index)) >= 0) {
		const struct davy_option *o;

		if (c == 'h')
			return fputs(usage, stdout) < 0 ? -DAVY_EXIT_FAILED : -DAVY_EXIT_DONE;
		if (c == '?')
			return -DAVY_EXIT_USAGE;
		o = &options[index - 1];
		if (o->take && !o->take(o->arg, optarg))
			return -DAVY_EXIT_USAGE;
		if (o->flag)
			*o->flag = true;
		else if (o->text)
			*o->text = optarg;
	}
	return optind;
}
