# SPDX-License-Identifier: GPL-2.0-or-later
#
# A real llama-server that loses its device: an alert fires, the engine is moved to the CPU, the alert clears. Sourced by
# tests/exporter/run.

has_worked() { # the answer's tokens are counted, and then at rest
	serves 60 && has_metric "$base" '^davylamp_workload_generated_tokens_total\{workload="1"\} [1-9]'
}
no_alert() { ! fires DavylampFailing engine_exception; }

engine_checks() {
	local own=$work
	if ! lab_open; then
		skip "the exporter beside a real engine" "the engine's root cannot be fetched"
		return
	fi
	trap 'close_exporter; lab_close; rm -rf "$own"' EXIT
	chmod 755 "$work" # for an exporter of nobody
	base=$((base + 4)) sock=$work/sock
	"$e2e/set-fault.sh" "$fault_file" ok
	check "the agent starts beside an engine" start_agent "$davylamp" --mode enforce
	engine_args=(-cram 0)
	start_engine
	check "llama-server comes up under davylamp exec" comes_up
	check "the exporter starts beside it" start_exporter "$base" "${nobody[@]}" -- --socket "$sock"
	check "the metrics count the tokens of the workload" until_true 10 has_worked
	check "the metrics of the workload are those of the status" until_true 20 same_as_status
	check "the metrics name the engine" grep -q '^davylamp_workload_info{workload="1",engine="llama-server",backend="vulkan"' "$work/metrics"
	start_prometheus || return
	check "no alert fires while the engine works" no_alert
	fault lost
	serves 20
	check "the lost device fires an alert" until_true 60 fires 'DavylampFailing' engine_exception
	check "the metrics count the action that moves the engine" until_true 90 has_metric "$base" \
		'^davylamp_action_outcomes_total\{action="migrate_cpu",result="done"\} 1$'
	check "the engine is on the CPU" until_true 30 has_metric "$base" '^davylamp_workload_info\{workload="1",engine="llama-server",backend="cpu"'
	check "the open breaker fires its alert" until_true 20 fires DavylampBreakerOpen
	check "the metrics after the fault are those of the status" until_true 20 same_as_status
	check "the alert of the lost device clears" until_true 60 no_alert
	DAVYLAMP_EXPORTER=127.0.0.1:$base check "the node's plug-in reports the open breaker" exits 1 "$monitoring/node-problem" breaker
	check "its message names the backend" says 'backend="vulkan"'
	stop_engine
	stop_agent
}
