/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For cppcheck: macros of libraries, whose headers it does not read. With -D they confuse it. */
#define json_array_foreach(a, i, v) for ((i) = 0; ((v) = json_array_get(a, i)); (i)++)
#define LIBBPF_OPTS(t, n, ...)	    struct t n
