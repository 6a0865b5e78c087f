/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of davylamp exec. */
#ifndef DAVY_EXEC_OPTIONS_H
#define DAVY_EXEC_OPTIONS_H

#include "policy/choice.h"

struct davy_exec_options {
	enum davy_want want; /* AUTO, BACKEND or FORCE */
	enum davy_backend backend;
	const char *model;  /* NULL: as the command says */
	const char *device; /* PCI address or number; NULL: not chosen */
	const char *socket_path;
	const char *state_dir;
	const char *config_dir;
	const char *data_dir; /* shipped rules */
	const char *slot_dir; /* NULL: a temporary one */
	uint64_t reserve_bytes;
	uint64_t memory_max; /* DAVY_FIT_UNKNOWN: no limit */
	uint64_t vram_max;   /* 0: no quota */
	bool prefer_gpu;
	bool gpu_only;
	bool explain;
	bool dry_run;
	bool json;
	char **command; /* ends with NULL */
};

/* 0, a positive exit status on error, or negative after --help. */
int davy_exec_options_read(int argc, char **argv, struct davy_exec_options *ret_options);

#endif
