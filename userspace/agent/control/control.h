/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests of clients, and the status reply. Only agent/ includes this. */
#ifndef DAVY_CONTROL_H
#define DAVY_CONTROL_H

#include <jansson.h>
#include <stdint.h>

struct davy_agent;
struct davy_link;

/* Handles a message; -ECONNRESET: the client has disconnected and its link is closed. */
int davy_control_take(struct davy_link *link);
void davy_control_gone(struct davy_link *link);
void davy_control_tick(struct davy_agent *a);

/* agent_status.c */
json_t *davy_agent_status(struct davy_agent *a);
json_t *davy_agent_sensors(const struct davy_agent *a); /* source order and BPF programs */

/* view_status.c */
json_t *davy_view_alarms(const struct davy_agent *a, json_int_t *ret_unlisted);
json_t *davy_view_workloads(const struct davy_agent *a);
void davy_view_gpu(const struct davy_agent *a, const char *device, json_t *o);
json_t *davy_view_fit(json_t *status); /* to the size of a message */
void davy_view_process(struct davy_agent *a, uint32_t pid, json_t *o);

/* gpu_status.c */
json_t *davy_agent_gpus_status(const struct davy_agent *a);
json_t *davy_agent_gpus_memory(const struct davy_agent *a); /* the source of each GPU's */

#endif
