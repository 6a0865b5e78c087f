/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two halves of 'davylamp fleet run'. The keeper is root without capabilities or network: it
 * reads the ledger, and writes the layer and the state file. The other half is another user without
 * files: it talks to etcd. They exchange messages over a socket pair; the keeper judges a layer as
 * hostile input before it writes it.
 */
#ifndef DAVY_KEEPER_H
#define DAVY_KEEPER_H

#include "fleet/member.h"

#define DAVY_KEEPER_TEXT_MAX ((size_t)256 * 1024)

enum davy_keeper_kind {
	DAVY_KEEPER_ROWS = 1,  /* to the network: devices and rows */
	DAVY_KEEPER_LAYER = 2, /* from it: text of the layer */
	DAVY_KEEPER_STATUS = 3,
};

struct davy_keeper_head {
	uint32_t kind;
	uint32_t size;	  /* bytes that follow */
	uint32_t devices; /* of ROWS: so many devices come before the rows */
	uint32_t rows;
};

/* Of a message that arrives in parts. A zeroed one is empty. */
struct davy_keeper_inbox {
	struct davy_keeper_head head;
	size_t head_used, used, room;
	char *body; /* terminated by a zero byte */
};

/*
 * Reads what is there. 1: a whole message (valid until the next call); 0: not yet; -errno: the
 * other half is gone, or sent what it may not.
 */
int davy_keeper_receive(int fd, struct davy_keeper_inbox *inbox);
int davy_keeper_send(int fd, enum davy_keeper_kind kind, const void *text, size_t size);

/* Runs until the other half is gone or a signal arrives; exit status. */
int davy_keeper_run(const char *state_dir, const char *socket_path, int fd);

/*
 * Drops the rights of each half. The network half becomes user DAVY_FLEET_UID unless it is not
 * root, and can then open no file for writing and start nothing. 0 or -errno.
 */
#define DAVY_FLEET_UID 65523 /* no distribution allocates it */
int davy_fleet_confine_keeper(void);
int davy_fleet_confine_network(void);

#endif
