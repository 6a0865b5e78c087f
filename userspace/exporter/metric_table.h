/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metrics: constant, name without prefix and suffix, type, unit, divisor of the value, help.
 * Names follow Prometheus' conventions: base units, which end the name; counters get _total, infos
 * _info. tests/exporter compares this table with davylamp-exporter(8).
 */
#ifndef DAVY_METRIC_TABLE_H
#define DAVY_METRIC_TABLE_H

/* clang-format off */
#define DAVY_METRICS(X) \
	X(UP, up, GAUGE, , 1, "1 if the agent has answered this scrape") \
	X(BUILD, exporter_build, INFO, , 1, "Version of davylamp-exporter") \
	X(SERIES_DROPPED, exporter_series_dropped, GAUGE, , 1, \
	  "Series without room in this answer") \
	X(MODE, mode, GAUGE, , 1, "1 for the mode of the agent") \
	X(UPTIME, uptime_seconds, GAUGE, seconds, 1000000000, \
	  "Time since the start of the agent") \
	X(EVENTS, events, COUNTER, , 1, "Events that the agent has judged") \
	X(DROPPED, entries_dropped, COUNTER, , 1, "Decisions and alarms without room") \
	X(DECISIONS, decisions, COUNTER, , 1, "Decisions, alarms included") \
	X(POLICY_INVALID, policy_invalid, GAUGE, , 1, "1 while a file of rules has an error") \
	X(SENSOR, sensor, GAUGE, , 1, "1 for the state of the sensor") \
	X(READERS, readers, GAUGE, , 1, "Readers of /proc by state") \
	X(INSPECTIONS_WAITING, inspections_waiting, GAUGE, , 1, \
	  "Inspections of processes in the queue") \
	X(INSPECTIONS_LOST, inspections_lost, COUNTER, , 1, "Inspections lost, by reason") \
	X(PROBES, probes, GAUGE, , 1, "Uprobes in use") \
	X(PROBES_LOST, probes_lost, COUNTER, , 1, \
	  "Uprobes refused or removed at the limit of a user") \
	X(EVICTED, entries_evicted, COUNTER, , 1, "Entries removed from full tables") \
	X(CONNECTIONS, connections, GAUGE, , 1, "Clients of the agent by kind of user") \
	X(CONNECTIONS_REFUSED, connections_refused, COUNTER, , 1, "Clients refused, by reason") \
	X(UNLISTED, status_unlisted, GAUGE, , 1, \
	  "Entries without room in the answer of the agent") \
	X(GPU, gpu, INFO, , 1, "A GPU and its driver") \
	X(GPU_READABLE, gpu_memory_readable, GAUGE, , 1, \
	  "1 if the memory of the GPU can be read") \
	X(GPU_SIZE, gpu_memory_size_bytes, GAUGE, bytes, 1, "Size of a heap") \
	X(GPU_USED, gpu_memory_used_bytes, GAUGE, bytes, 1, "Use of a heap") \
	X(GPU_FULL, gpu_memory_full_in_seconds, GAUGE, seconds, 1000, \
	  "Time until a growing heap is full") \
	X(GPU_EVICTIONS, gpu_evictions, COUNTER, , 1, "Evictions of buffers from VRAM") \
	X(GPU_RESETS, gpu_resets, COUNTER, , 1, "Resets of the GPU") \
	X(GPU_CLIENTS, gpu_clients, GAUGE, , 1, "Processes with memory on the GPU") \
	X(GPU_JOB_AGE, gpu_oldest_job_age_seconds, GAUGE, seconds, 1000000000, \
	  "Age of the oldest running job") \
	X(GPU_TEMPERATURE, gpu_temperature_celsius, GAUGE, celsius, 1, \
	  "Temperature, if NVML reports it") \
	X(GPU_ECC, gpu_ecc_uncorrected_errors, COUNTER, , 1, \
	  "Uncorrected ECC errors, if NVML reports them") \
	X(GPU_THROTTLED, gpu_throttled, GAUGE, , 1, "1 for each reason that lowers the clocks") \
	X(QUOTA_REFUSED, gpu_quota_refusals, COUNTER, , 1, \
	  "Allocations that a quota of VRAM has refused") \
	X(ENGINES, engines, GAUGE, , 1, "Processes of inference engines, adopted or not") \
	X(WORKLOAD, workload, INFO, , 1, "A workload, its engine, backend and device") \
	X(WORKLOAD_ADOPTED, workload_adopted, GAUGE, , 1, \
	  "1 if the agent may act on the workload") \
	X(WORKLOAD_MEMORY, workload_gpu_memory_bytes, GAUGE, bytes, 1, \
	  "Memory of the workload on a GPU") \
	X(WORKLOAD_RUN, workload_run_ratio, GAUGE, ratio, 1000, \
	  "Part of the time that it may run: 0 is paused") \
	X(WORKLOAD_ACTION, workload_actions_in_force, GAUGE, , 1, \
	  "Actions in force on the workload") \
	X(GRAPHS, workload_graphs, COUNTER, , 1, "Compute graphs") \
	X(GRAPHS_FAILED, workload_graphs_failed, COUNTER, , 1, "Compute graphs that failed") \
	X(PROMPT_TOKENS, workload_prompt_tokens, COUNTER, , 1, "Prompt tokens processed") \
	X(GENERATED_TOKENS, workload_generated_tokens, COUNTER, , 1, "Tokens generated") \
	X(CONTEXT, workload_context_tokens, GAUGE, tokens, 1, "Size of the context") \
	X(DEPTH, workload_depth_tokens, GAUGE, tokens, 1, \
	  "Tokens in the context of the current request") \
	X(ALARMS, alarms, GAUGE, , 1, "Alarms in force") \
	X(BREAKERS, breakers, GAUGE, , 1, "Circuit breakers by state") \
	X(FAILURES, failures, COUNTER, , 1, "Failures by class") \
	X(FAILURES_MISSED, failures_missed, COUNTER, , 1, \
	  "Failures without an alarm before them") \
	X(PREDICTIONS, predictions, COUNTER, , 1, \
	  "Alarms of level 2 or more, which predict a failure") \
	X(PREDICTIONS_ENDED, predictions_ended, COUNTER, , 1, "Predictions by result") \
	X(ACTIONS, actions, COUNTER, , 1, "Planned actions by verdict") \
	X(OUTCOMES, action_outcomes, COUNTER, , 1, "Ended actions by result") \
	X(FLEET_CONNECTED, fleet_connected, GAUGE, , 1, \
	  "1 if davylamp-fleet has reported within a minute, and reaches etcd") \
	X(FLEET_HOSTS, fleet_hosts, GAUGE, , 1, "Hosts of the fleet") \
	X(FLEET_RULES, fleet_rules, GAUGE, , 1, "Rules of the fleet by state") \
	X(FLEET_ROWS, fleet_rows_failed, GAUGE, , 1, \
	  "Rows with failures that this host knows") \
	X(FLEET_REFUSED, fleet_rows_refused, COUNTER, , 1, \
	  "Rows of other hosts without room or in another form") \
	X(FLEET_REPLAYED, fleet_rows_replayed, COUNTER, , 1, "Rows older than those known") \
	X(FLEET_ROLLED_BACK, fleet_rolled_back_timestamp_seconds, GAUGE, seconds, 1, \
	  "When the store was last found to be older than before")
/* clang-format on */

#define DAVY_METRIC_NUMBER(constant, name, type, unit, divisor, help) DAVY_METRIC_##constant,

enum davy_metric {
	DAVY_METRICS(DAVY_METRIC_NUMBER) DAVY_METRIC_COUNT
};

#endif
