# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# lab_units DIR LLAMA...: the units of tests/systemd and of the VM's part "systemd". LLAMA is the command
# that runs llama-server, up to its own options, and $lab_router the one that runs it in router mode; /lab/ollama and /lab/llama-server are tests/systemd/ollama.c.

lab_unit() { # NAME EXEC LINE...
	lab_name=$1 lab_exec=$2
	shift 2
	{
		printf '[Unit]\nDefaultDependencies=no\n[Service]\nExecStart=%s\n' "$lab_exec"
		printf 'StandardOutput=append:/run/%s.log\nStandardError=inherit\n' "$lab_name"
		printf '%s\n' "$@"
	} >"$lab_units/$lab_name.service"
}

lab_units() {
	lab_units=$1
	shift
	printf '[Unit]\nDefaultDependencies=no\n' >"$lab_units/lab.target"
	lab_unit llama "$* --host 127.0.0.1 --port 18301 -t 1 -c 512 -fit off" \
		Environment=LLAMA_ARG_N_PARALLEL=2 Restart=no
	lab_unit flags "$* --host 127.0.0.1 --port 18302 -t 1 -c 512 -fit off -ub 256 -dev none" Restart=no
	lab_unit ollama "/lab/ollama serve" Environment=OLLAMA_HOST=127.0.0.1:18303 \
		Environment=OLLAMA_MODELS=/run/models Restart=always RestartSec=100ms
	lab_unit ollama24 "/lab/ollama serve" Environment=OLLAMA_HOST=127.0.0.1:18304 \
		Environment=OLLAMA_MODELS=/run/models24 Environment=OLLAMA_ERA=0.24 Restart=no
	lab_unit router "$lab_router" Environment=HOME=/tmp Restart=no
	lab_unit boxed "/lab/ollama serve" User=nobody SupplementaryGroups=44 DevicePolicy=closed \
		Environment=OLLAMA_HOST=127.0.0.1:18306 Environment=ROCR_VISIBLE_DEVICES=-1 Restart=no
	lab_unit sleeper "/bin/sleep 1000000" Restart=no
}
