/* SPDX-License-Identifier: GPL-2.0 */
#define MANY 8 /* events of one call of iv_seen_many */
