/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /etc/davylamp/fleet.conf: where the fleet's etcd is, and what this host takes from it. */
#ifndef DAVY_FLEET_CONFIG_H
#define DAVY_FLEET_CONFIG_H

#include "fleet/member.h"

#define DAVY_FLEET_CONFIG   "/etc/davylamp/fleet.conf"
#define DAVY_FLEET_TEXT_MAX 16384
#define DAVY_FLEET_ERROR    512

struct davy_fleet_config {
	struct davy_member_config member;
	struct davy_etcd_access access; /* texts are in "text"; key files become open descriptors */
	char host[DAVY_FLEET_HOST_LEN];
	char secret[128]; /* the password */
	char file[3][32]; /* "/proc/self/fd/N" of ca, certificate and key */
	char text[DAVY_FLEET_TEXT_MAX];
	size_t used;
	char *salt; /* for the host's name */
};

/*
 * Reads the file, the password, and the certificates into memory files, so that the process can
 * then become another user. 0; -EBADMSG and other errors with "error": "FILE:LINE: what".
 */
int davy_fleet_config_read(const char *path, struct davy_fleet_config *ret_config,
			   char error[DAVY_FLEET_ERROR]);

#endif
