# SPDX-License-Identifier: GPL-2.0-or-later
# Seed 002's case: sourced by tests/doctor/run.

echo "== a healthy MI50"
mi50
service_runs "${radv[@]}"
of_service
check "a healthy host has no failure; known problems of gfx906 are a warning" concludes 5 \
	'.kind == "healthy" and .usable == ["vulkan", "rocm"] and .policy == null'
check "device files are opened as the service's user" found access.open ok '.about == "/dev/kfd" and (.evidence | test("user ollama .1998. has opened"))'
check "the report has KFD's name of the GPU" found driver.topology ok '.evidence | test("gfx906, 60 compute units")'
check "this user finds ROCm" found runtime.rocm ok '.evidence | test("as user ollama: 1 device: gfx906")'
check "this user finds Vulkan through Mesa's driver" found runtime.vulkan ok '.evidence | test("RADV")'
check "the finding of the deny list has its source" found driver.denied warning '.backends == ["rocm"] and (.evidence | test("ollama#12915"))'

echo "== the engine's ROCm backend dies"
# dies STAGE JQ: sets the stand-in's behaviour, checks the one cause.
dies() {
	service_runs "${radv[@]}" STANDIN_HIP="$1"
	with_engine
	concludes 1 '.kind == "cause" and (.causes | length == 1) and .causes[0].check == "engine.discovery" and
		.causes[0].backends == ["rocm"]' && tail -n 1 "$report" | jq -e ".causes[0].evidence | $2" >/dev/null
}
check "a crash while loading the library: stage load, with the signal" dies load 'test("died by SIGILL in stage load, in libggml-hip.so")'
check "a crash in the runtime's init: stage init, with its output" dies init \
	'test("died by SIGABRT in stage init, in libamdhip64.so.6 .*its output: stand-in: assertion failed")'
check "the layers below are proven healthy" concludes 1 '.proven == "driver, device files, permissions, Vulkan, the engine'\''s Vulkan, ROCm"'
check "the cause contains the known problem" concludes 1 '.text | test("known: ROCm 6.4.*ollama#12915")'
check "the conclusion names the backend and the GPU" concludes 1 '.text | test("the engine.s ROCm backend is at fault on gfx906")'
check "the policy is Vulkan on this GPU for this engine" concludes 1 \
	'.policy == {"backends": ["vulkan", "cpu"], "device": "0000:04:00.0", "engine": "ollama"} and (.text | test("use Vulkan"))'
check "a fault with the device open: stage device" dies device 'test("died by SIGSEGV in stage device, in libamdhip64.so.6")'
check "a fault with device memory mapped: stage memory" dies memory 'test("died by SIGSEGV in stage memory, in libamdhip64.so.6")'
check "an exit status is reported with the output, escapes sanitized" dies exit \
	'test("exited with status 3 in stage device.*no kernel image is available\\\\x1b")'
check "no device and no output" dies ok 'test("found no device in stage device")'
began=$SECONDS
service_runs "${radv[@]}" STANDIN_HIP=hang
with_engine --timeout 4
check "a hang is killed" concludes 1 '.causes[0].evidence | test("it hung and was killed in stage init")'
check "the doctor ends within the time limit of a hang" test $((SECONDS - began)) -lt 30
check "a message says what is waited for" grep -q 'doctor: waiting for the engine.s device discovery (ROCm), at most 4 s' "$work/err"
check "the doctor leaves no process after a hang" bash -c "! pgrep -u $uid -f 'llama-server --list-devices'"

echo "== a running agent gets the report, and the next start uses it"
fault ok
start_agent "$STAGE/usr/sbin/davylamp" --mode enforce
start_engine # an adopted engine with that model
check "an engine with this model answers" comes_up
mkdir -p "$LAB_ROOT$here/told"
mount --bind "$work" "$LAB_ROOT$here/told"
service_runs "${radv[@]}" STANDIN_HIP=init
with_engine --socket "$here/told/sock" --model "$inside/tiny.gguf"
check "the doctor logs the report" grep -q "reported to the agent: ROCm fails at init in libamdhip64.so.6" "$work/err"
check "the agent has the event" saw '.event == "finding" and .engine == "ollama" and .backend == "rocm" and .model == "tiny.gguf" and
	.device == "0000:04:00.0" and .where == "init in libamdhip64.so.6" and .status == 6 and .adopted'
check "it raises a hazard with the stage" decided '.rung == "note" and .hazard == "runner_crash" and .level == 3 and .backend == "rocm" and
	(.because | test("start failed: ended by SIGABRT at the stage init in libamdhip64.so.6"))'
check "the hazard opens the backend's breaker for the model" decided '.rung == "breaker" and .state == "open" and .backend == "rocm" and .model == "tiny.gguf"'
check "the ledger has the failure" bash -c "'$STAGE/usr/sbin/davylamp' policy ledger --json --state '$work/state' |
	jq -es 'any(.[]; .backend == \"rocm\" and .model == \"tiny.gguf\" and .faults.runner_crash_init == 1)' >/dev/null"
check "the running engine is not touched" healthy
umount "$LAB_ROOT$here/told"
stop_engine
stop_agent

echo "== its runner dies and the engine continues: seed 002's Ollama"
for how in fork thread; do
	libraries=$here/opt/lib/ollama/rocm:$here/rt:$here/lib service_runs "${radv[@]}" STANDIN_HIP=init
	of_service -- "$here/manager" $how "$here/opt/lib/ollama/rocm/libggml-hip.so"
	check "the death of a runner ($how) is detected although the engine continues" concludes 1 '(.causes | map(.check)) == ["engine.discovery"] and
		(.causes[0].evidence | test("its runner died by SIGABRT in stage init, in libamdhip64.so.6"))'
	check "the backend is known by its loaded library, and the policy is Vulkan" concludes 1 '.broken == ["rocm"] and .policy.backends == ["vulkan", "cpu"]'
done
libraries=$here/opt/lib/ollama/rocm:$here/rt:$here/lib service_runs "${radv[@]}" STANDIN_HIP=ok
of_service -- "$here/manager" fork "$here/opt/lib/ollama/rocm/libggml-hip.so"
check "a surviving child is no cause, and no proof of a backend" concludes 5 '.kind == "healthy" and (.text | test("no engine was run"))'
of_service --engine /usr/bin/llama-server
check "the system's llama-server finds Vulkan as this user" found engine.discovery ok '.about == "Vulkan" and (.evidence | test("Vulkan0: AMD Radeon Pro VII"))'

echo "== no kernels for the GPU"
kernels gfx908 gfx90a gfx1100
service_runs "${radv[@]}" STANDIN_HIP=init
with_engine
check "missing kernels are the cause of the runner's death" concludes 1 '(.causes | map(.check)) == ["bundle.targets"] and
	(.causes[0].evidence | test("no kernels for gfx906, only for gfx1100 gfx908 gfx90a|no kernels for gfx906, only for gfx"))'
check "the policy is the same" concludes 1 '.policy.backends == ["vulkan", "cpu"]'
kernels gfx906

echo "== --apply"
printf '# mine\n[rule mine]\nif model = other*\nubatch = 64' >"$rules"
cp "$rules" "$work/mine"
service_runs "${radv[@]}" STANDIN_HIP=init
with_engine --apply
check "the policy is written" grep -qx 'backends = vulkan,cpu' "$rules"
check "the administrator's text is unchanged, byte for byte" cmp "$work/mine" <(head -c "$(stat -c %s "$work/mine")" "$rules")
check "the rule has its reason" grep -q "^because = davylamp doctor: the engine's device discovery fails" "$rules"
check "policy explain shows the rule" bash -c "$(declare -f explain); here=$here LAB_ROOT=$LAB_ROOT bdf=$bdf; explain --engine ollama |
	jq -e '.values // . | tostring | test(\"pinned-1\")' >/dev/null"
cp "$rules" "$work/once"
with_engine --apply
check "a second --apply changes nothing" cmp "$work/once" "$rules"
check "the message reports that the rule exists" grep -q 'already has this rule' "$work/err"
printf '[rule broken\n' >"$rules"
with_engine --apply
check "a file with errors is not changed" test "$(cat "$rules")" = '[rule broken'
check "--apply of a file with errors exits with 1" test "$status" == 1
rm "$rules"
service_runs "${radv[@]}"
of_service --apply
check "without a policy nothing is written" test ! -e "$rules"
check "the message reports that no policy follows" grep -q 'no policy follows' "$work/err"
