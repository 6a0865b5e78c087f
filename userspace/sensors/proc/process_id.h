/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The identity of a process: pid, start time, parent, user, cgroup. The kernel generates these
 * files with bounded size, and takes no lock that the process can hold:
 * /proc/PID/{stat,status,cgroup} take no mmap_lock and call no file system. Therefore the agent
 * reads them itself, also immediately before a dangerous action. davylamp-reader reads everything
 * else.
 */
#ifndef DAVY_PROCESS_ID_H
#define DAVY_PROCESS_ID_H

#include <stdint.h>

#define DAVY_CGROUP_LEN 512

/* 0; -ESRCH if the process is gone. */
int davy_process_stat(uint32_t pid, uint32_t *ret_ppid, uint64_t *ret_start);

/* 'R', 'S', 'D', ... of its first thread (proc_pid_stat(5)); 0 if it is gone. */
char davy_process_state(uint32_t pid);

/* Start time, the second part of its identity; 0 if it is gone. */
uint64_t davy_process_start(uint32_t pid);

/* 0 if it is gone. */
uint32_t davy_process_parent(uint32_t pid);

/* UINT32_MAX if it is gone. */
uint32_t davy_process_uid(uint32_t pid);

/* Its cgroup v2 path, "": unknown. */
void davy_process_cgroup(uint32_t pid, char ret_path[DAVY_CGROUP_LEN]);

/* The same, from the text of /proc/PID/cgroup, which is modified. */
void davy_process_cgroup_take(char *text, char ret_path[DAVY_CGROUP_LEN]);

/* The process of a thread (a kernel log line may name either); 0 if it is gone. */
uint32_t davy_process_of_thread(uint32_t tid);

/* Its pid in its own pid namespace; 0 if it is gone. */
uint32_t davy_process_inner_pid(uint32_t pid);

#endif
