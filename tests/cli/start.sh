# SPDX-License-Identifier: GPL-2.0-or-later
#
# How rules for backends and settings change a command of 'davylamp exec'; tests/cli/run calls these.

put_rules() {
	mkdir -p "$work/rules"
	printf '%s\n' '[rule small]' 'if model = tiny*' 'ubatch = 128' 'context = 4096' 'cache_type = f16' \
		'environment DAVYLAMP_TEST_RULE = yes' 'argument -fa = auto' "${@}" >"$work/rules/backend.conf"
}
# starts_as PROGRAM WORDS EXEC_ARGUMENT...: the command of --dry-run ends with WORDS.
starts_as() {
	local p=$1 words=$2
	shift 2
	said=$("$p" exec --dry-run --config "$work/rules" --state "$work/stateless" --socket "$work/none" "$@" 2>&1)
	grep -qxF "would start: $words" <<<"$said"
}

# rules_checks PROGRAM: without an agent.
rules_checks() {
	local p=$1
	put_rules 'because = they say so'
	check "exec applies rules of the operator" starts_as "$p" \
		"llama-server -m tiny.gguf --ubatch-size 128 --ctx-size 4096 -fa auto -ctk f16 -ctv f16" -- llama-server -m tiny.gguf
	check "exec prints each applied rule with its line" says "policy: ubatch = 128 ($work/rules/backend.conf:3, rule small): they say so"
	check "a rule does not increase a smaller value of the command" starts_as "$p" \
		"llama-server -m tiny.gguf -ub 64 -c 512 -fa off -ctk q8_0" -- llama-server -m tiny.gguf -ub 64 -c 512 -fa off -ctk q8_0
	check "a rule for one model does not apply to another" starts_as "$p" "llama-server -m large.gguf" -- llama-server -m large.gguf
	check "a rule for one engine does not apply to another program" starts_as "$p" "true -m tiny.gguf" -- true -m tiny.gguf
	mkdir -p "$work/bin"
	printf '#!/bin/sh\nenv\n' >"$work/bin/llama-server"
	chmod +x "$work/bin/llama-server"
	check "exec sets the environment variables of a rule" bash -c "'$p' exec --config '$work/rules' --state '$work/stateless' --socket '$work/none' -- \
		'$work/bin/llama-server' -m tiny.gguf 2>/dev/null | grep -qx DAVYLAMP_TEST_RULE=yes"
	check "a rule does not override a variable that is already set" bash -c "DAVYLAMP_TEST_RULE=no '$p' exec --config '$work/rules' --state '$work/stateless' --socket '$work/none' -- \
		'$work/bin/llama-server' -m tiny.gguf 2>/dev/null | grep -qx DAVYLAMP_TEST_RULE=no"
	put_rules 'backends = cpu' 'warn = it died there'
	check "exec applies a rule for the CPU" starts_as "$p" "llama-server -m tiny.gguf --ubatch-size 128 --ctx-size 4096 -fa auto \
-ctk f16 -ctv f16 --device none --device-draft none --split-mode layer --gpu-layers 0 --gpu-layers-draft 0 --no-op-offload \
--no-mmproj-offload --no-kv-offload" -- llama-server -m tiny.gguf
	check "exec --force-gpu overrides a rule for the CPU" starts_as "$p" \
		"llama-server -m tiny.gguf --device Vulkan0 --ubatch-size 128 --ctx-size 4096 -fa auto -ctk f16 -ctv f16" --backend vulkan -- llama-server -m tiny.gguf
	check "exec warns when a forced backend is known to fail" says "policy: vulkan is known to fail here: it died there; starting on vulkan anyway"
	put_rules 'parallel = many'
	check "exec starts the command unchanged when the rules are invalid" starts_as "$p" "llama-server -m tiny.gguf" -- llama-server -m tiny.gguf
	check "exec names file, line and column of invalid rules" says "$work/rules/backend.conf:8:12: "
}

# rules_of_agent_checks PROGRAM: an agent with good rules runs with --config $work/rules.
rules_of_agent_checks() {
	local p=$1
	put_rules 'parallel = many'
	check "policy reload with invalid rules exits with 1" exits 1 "$p" policy reload --socket "$work/sock"
	check "status reports invalid rules until they are corrected" bash -c "'$p' status --socket '$work/sock' | grep -q 'policy: .*backend.conf:8:12: .*the previous rules stay in force'"
	check "exec uses the previous rules of the agent while the file is invalid" bash -c "'$p' exec --dry-run --config '$work/rules' --state '$work/stateless' --socket '$work/sock' -- \
		llama-server -m tiny.gguf 2>&1 | grep -q 'would start: llama-server -m tiny.gguf --ubatch-size 128'"
	put_rules
	check "policy reload accepts the corrected rules" exits 0 "$p" policy reload --socket "$work/sock"
	check "status reports no error after the correction" bash -c "'$p' status --json --socket '$work/sock' | jq -e '.policy_error == \"\"' >/dev/null"
}

# pin_checks PROGRAM
pin_checks() {
	local p=$1 at=$work/pins/backend.conf tuned
	rm -rf "$work/pins" "$work/tuned"
	mkdir -p "$work/pins" "$work/tuned"
	printf '[rule tuned-vulkan]\nif model = tiny.gguf\nubatch = 64\n' >"$work/tuned/backend.conf"
	pinned() { "$p" exec --dry-run --config "$work/pins" --state "$work/tuned" --socket "$work/none" -- llama-server -m tiny.gguf 2>&1; }
	printf '# of people\n[rule own] ; and this' >"$at"
	check "policy pin does not append to invalid rules" exits 1 "$p" policy pin --config "$work/pins" --model tiny.gguf ubatch=256
	check "policy pin names the invalid file" says "backend.conf:"
	printf '# of people\n[rule own]\nif model = other*\nubatch = 32' >"$at"
	cp "$at" "$work/pins.own"
	check "without a pin the agent's rule applies" grep -q -- '--ubatch-size 64' <(pinned)
	check "policy pin exits with 0" exits 0 "$p" policy pin --config "$work/pins" --model tiny.gguf backend=vulkan ubatch=256
	check "policy pin prints the rule and the file" says "pinned: rule pinned-1 in $at"
	check "a pinned rule has precedence over the agent's rule" grep -q -- '--ubatch-size 256' <(pinned)
	check "policy pin keeps the operator's text byte for byte" cmp -n "$(stat -c %s "$work/pins.own")" "$at" "$work/pins.own"
	check "policy pin --json prints the name of the rule" bash -c "'$p' policy pin --json --config '$work/pins' backends=cpu | jq -e '.rule == \"pinned-2\"' >/dev/null"
	check "policy pin with an invalid value exits with 2" exits 2 "$p" policy pin --config "$work/pins" ubatch=many
	check "policy pin does not write an invalid value" not grep -q many "$at"
	check "policy pin without a setting exits with 2" exits 2 "$p" policy pin --config "$work/pins" --model tiny.gguf
	check "policy pin with an unknown setting exits with 2" exits 2 "$p" policy pin --config "$work/pins" fast
	check "policy unpin removes one rule" exits 0 "$p" policy unpin --config "$work/pins" pinned-1
	check "policy unpin keeps the other pinned rule" grep -q '^.rule pinned-2.$' "$at"
	check "policy unpin removes the last pinned rule" exits 0 "$p" policy unpin --config "$work/pins" pinned-2
	check "policy unpin leaves the operator's text only" cmp <(cat "$work/pins.own"; echo) "$at"
	check "policy unpin does not remove rules of the operator" exits 4 "$p" policy unpin --config "$work/pins" own
	check "the agent's rule applies again after policy unpin" grep -q -- '--ubatch-size 64' <(pinned)
}
