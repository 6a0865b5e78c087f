/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp trace --help', which davylamp tells without its laboratory, too. */
#ifndef DAVY_TRACE_USAGE_H
#define DAVY_TRACE_USAGE_H

extern const char davy_trace_usage[];

#endif
