/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * davylamp-probe: short-lived, without privileges, one JSON line as its answer. Everything that
 * talks to engines or runs vendor code is here and nowhere else; a crash or a hang of it is a
 * finding.
 */
#ifndef DL_PROBE_PROBE_H
#define DL_PROBE_PROBE_H

#include <stdint.h>

struct dl_probe_engine {
	uint16_t port;
	uint32_t wait_ms;
	uint32_t timeout_ms;
};

/* Exit status. */
int dl_probe_engine(const struct dl_probe_engine *options);

/* Gives up root, new privileges, and what the limits allow to be used. 0 or -errno. */
int dl_probe_confine(void);

#endif
