/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The key that an engine's HTTP server wants: "Authorization: Bearer KEY". It is never logged. */
#ifndef DAVY_API_KEY_H
#define DAVY_API_KEY_H

#define DAVY_API_KEY_LEN 128
#define DAVY_API_KEY_ENV "DAVYLAMP_API_KEY" /* of davylamp-probe */

/* The first key of a list with commas, if a header can hold it; else "". "text" may be NULL. */
void davy_api_key_take(char key[DAVY_API_KEY_LEN], const char *text);

#endif
