/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of 'davylamp trace --help'; davylamp prints it without davylamp-lab, too. */
#ifndef DAVY_TRACE_USAGE_H
#define DAVY_TRACE_USAGE_H

extern const char davy_trace_usage[];

#endif
