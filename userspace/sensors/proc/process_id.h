/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The identity of a process: pid, start time, parent, user, cgroup. The kernel alone makes this
 * text, in bounded size, and takes no lock that the process can hold: /proc/PID/{stat,status,
 * cgroup} do not take mmap_lock and ask no file system. So the agent reads it itself, also right
 * before a dangerous act. Everything else about a process is read by davylamp-reader.
 */
#ifndef DAVY_PROCESS_ID_H
#define DAVY_PROCESS_ID_H

#include <stdint.h>

#define DAVY_CGROUP_LEN 512

/* -ESRCH when it is gone. */
int davy_process_stat(uint32_t pid, uint32_t *ret_ppid, uint64_t *ret_start);

/* 'R', 'S', 'D', ... of its first thread (proc_pid_stat(5)); 0 when it is gone. */
char davy_process_state(uint32_t pid);

/* The second half of its identity; 0 when it is gone. */
uint64_t davy_process_start(uint32_t pid);

/* 0 when it is gone. */
uint32_t davy_process_parent(uint32_t pid);

/* UINT32_MAX when it is gone. */
uint32_t davy_process_uid(uint32_t pid);

/* Its cgroup v2 path, "" when unknown. */
void davy_process_cgroup(uint32_t pid, char ret_path[DAVY_CGROUP_LEN]);

/* The same, out of the text of /proc/PID/cgroup, which is cut up. */
void davy_process_cgroup_take(char *text, char ret_path[DAVY_CGROUP_LEN]);

/* The process of a thread (a kernel line may name either); 0 when it is gone. */
uint32_t davy_process_of_thread(uint32_t tid);

/* Its pid as it sees it itself; 0 when it is gone. */
uint32_t davy_process_inner_pid(uint32_t pid);

#endif
