/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded: while the file UNREADABLE_WHILE exists, opening a file named in UNREADABLE ("a b")
 * for reading fails with EMFILE, as on a host that is at its limit for a moment.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool refused(const char *path, int flags)
{
	const char *names = getenv("UNREADABLE"), *flag = getenv("UNREADABLE_WHILE");
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *at = names;
	size_t len = strlen(name);

	if (!names || !flag || !len || (flags & O_ACCMODE) != O_RDONLY || access(flag, F_OK))
		return false;
	while ((at = strstr(at, name))) {
		if ((at == names || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
		at += len;
	}
	return false;
}

#define OPEN(function)                                                                             \
	int function(const char *path, int flags, ...)                                             \
	{                                                                                          \
		int (*real)(const char *, int, ...) =                                              \
			(int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #function);              \
		va_list args;                                                                      \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(args, flags);                                                             \
		mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;                 \
		va_end(args);                                                                      \
		if (refused(path, flags)) {                                                        \
			errno = EMFILE;                                                            \
			return -1;                                                                 \
		}                                                                                  \
		return real(path, flags, mode);                                                    \
	}

OPEN(open)
OPEN(open64)

/* _FORTIFY_SOURCE calls these instead. */
int __open_2(const char *path, int flags)
{
	return open(path, flags);
}

int __open64_2(const char *path, int flags)
{
	return open64(path, flags);
}
