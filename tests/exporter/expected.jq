# The lines that the metrics must have for an answer of 'davylamp status --json'; those that change with each answer (time,
# events, connections, the host's memory) are left out.
def l($pairs): [$pairs | to_entries[] | "\(.key)=\"\(.value)\""] | join(",");
def row($name; $pairs; $value): "davylamp_\($name){\(l($pairs))} \($value)";

. as $s |
"davylamp_up 1", "davylamp_decisions_total \(.decisions)", "davylamp_entries_dropped_total \(.dropped)",
"davylamp_policy_invalid \(if .policy_error == "" then 0 else 1 end)", row("mode"; {mode}; 1),
(.sensors[] | row("sensor"; {sensor: .name, state}; 1)),
(.reader | row("readers"; {state: "live"}; .live), row("readers"; {state: "stuck"}; .stuck)),
(.crowding | "davylamp_probes \(.probes)", row("probes_lost_total"; {reason: "refused"}; .probes_refused),
	row("entries_evicted_total"; {table: "world"}; .world_evicted)),
(.gpus[] | . as $g | {device} as $d | row("gpu_info"; {device, driver}; 1), row("gpu_evictions_total"; $d; .evictions),
	row("gpu_resets_total"; $d; .resets), row("gpu_clients"; $d; .clients | length),
	row("gpu_oldest_job_age_seconds"; $d; [.rings[].age_ns / 1e9, 0] | max),
	("vram", "visible", "gtt" | select($g["\(.)_total"] > 0) |
		row("gpu_memory_size_bytes"; $d + {heap: .}; $g["\(.)_total"]),
		row("gpu_memory_used_bytes"; $d + {heap: .}; $g["\(.)_used"])),
	row("gpu_memory_size_bytes"; $d + {heap: "host"}; .host_total)),
(.workloads[] | row("workload_adopted"; {workload}; if .adopted then 1 else 0 end), (. as $w | .in_force | group_by([.act, .hazard])[] |
	row("workload_actions_in_force"; {workload: $w.workload, action: .[0].act, hazard: .[0].hazard}; length))),
(.processes | group_by([.engine, .backend])[] | row("engines"; {engine: .[0].engine, backend: .[0].backend}; length)),
([.processes[] | select(.workload > 0)] | (.[] | row("workload_info"; {workload, engine, backend, device}; 1)), (group_by(.workload)[] |
	. as $p | {workload: .[0].workload} as $w | {graphs: "graphs_total", failed_graphs: "graphs_failed_total", context: "context_tokens",
		prompt_tokens: "prompt_tokens_total", generated_tokens: "generated_tokens_total", depth: "depth_tokens"} | to_entries[] |
	.key as $key | select(all($p[]; has($key))) | row("workload_\(.value)"; $w; [$p[][$key]] | add))),
(.alarms | group_by([.hazard, .level, .device])[] | row("alarms"; {hazard: .[0].hazard, level: .[0].level, device: .[0].device}; length)),
(.breakers | group_by([.device, .backend, .state])[] |
	row("breakers"; {device: .[0].device, backend: .[0].backend, state: .[0].state}; length)),
(.foresight.classes | to_entries[] | row("failures_total"; {class: .key}; .value.failures),
	row("failures_missed_total"; {class: .key}; .value.missed)),
(.foresight.hazards | to_entries[] | row("predictions_total"; {hazard: .key}; .value.signs),
	(. as $h | "confirmed", "averted", "late", "false_alarms" |
		row("predictions_ended_total"; {hazard: $h.key, result: .}; $h.value[.]))),
(.actions | to_entries[] | . as $a | ("go", "advised", "refused" | row("actions_total"; {action: $a.key, verdict: .}; $a.value[.])),
	("done", "failed" | row("action_outcomes_total"; {action: $a.key, result: .}; $a.value[.])))
