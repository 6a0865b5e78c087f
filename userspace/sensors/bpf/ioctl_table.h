/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a failed ioctl of a GPU driver means. */
#ifndef DAVY_IOCTL_TABLE_H
#define DAVY_IOCTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct davy_ioctl_row {
	const char *driver; /* "" any */
	const char *name;   /* of the command, "" any */
	uint32_t number;    /* _IOC_NR; DAVY_IOCTL_ANY */
	int32_t error;	    /* -errno */
	uint32_t verdict;   /* enum davy_ioctl_verdict */
};

/* The row at "index", false past the end. */
bool davy_ioctl_row(size_t index, struct davy_ioctl_row *ret_row);

#endif
