# SPDX-License-Identifier: GPL-2.0-or-later
#
# 'davylamp trace discovery' on starts that stop in every way of an engine that does not see its GPU: real
# programs and real dynamic linking, libraries of our own. Sourced by tests/bpf/run.

stand=$work/start
mkdir -p "$stand"/{bin,nvml,other,cuda,ggml}
in_stand() { # COMMAND...: a compiler's, quiet
	"$@" 2>"$work/cc" || { cat "$work/cc"; return 1; }
}
library() { # OUT OPTION...: a stand-in of tests/bpf/start/runtime.c
	local out=$1
	shift
	mkdir -p "${out%/*}"
	in_stand gcc -O1 -g0 -shared -fPIC -o "$out" tests/bpf/start/runtime.c -Wl,-soname,"${out##*/}" "$@"
}
library "$stand/ggml/libggml.so.0" -DGGML
library "$stand/ggml/libggml-base.so.0" -DGGML_BASE
in_stand gcc -O1 -o "$stand/bin/llama-server" tests/bpf/start/engine.c "$stand"/ggml/libggml.so.0 \
	"$stand"/ggml/libggml-base.so.0 -Wl,-rpath,"$stand/ggml"
cp "$stand/bin/llama-server" "$stand/bin/ollama"
library "$stand/nvml/libnvidia-ml.so.1" -DNVML
library "$stand/nvml-symbol/libnvidia-ml.so.1" -DNVML -DNO_COUNT
library "$stand/nvml-needs/libnvidia-ml.so.1" -DNVML -DNEEDS_SYMBOL
library "$stand/nvml-init/libnvidia-ml.so.1" -DNVML -DINIT_RESULT=9
library "$stand/nvml-none/libnvidia-ml.so.1" -DNVML -DCOUNT=0
library "$stand/cuda/libcuda.so.1" -DCUDA
library "$stand/cuda-init/libcuda.so.1" -DCUDA -DINIT_RESULT=999
library "$stand/cuda-crash/libcuda.so.1" -DCUDA -DCRASHES
library "$stand/cuda-hang/libcuda.so.1" -DCUDA -DHANGS
library "$stand/backend/libggml-cuda.so" -DBACKEND "$stand/cuda/libcuda.so.1"

# start LIBRARY_PATH VARIABLE...: an ollama of ours under trace; steps and outcome in $work/steps.
started=0
start() {
	local path=$1
	shift
	env LD_LIBRARY_PATH="$path" "$@" "$program" trace discovery --json --out "$work/steps" $options -- \
		"$stand/bin/${engine_name:-ollama}" >"$work/engine.out" 2>"$work/engine.err"
	started=$?
	tail -n 2 "$work/steps" | head -n 1 >"$work/outcome"
}
options=''
step() { jq -es "any(.[]; $1)" "$work/steps" >/dev/null; }
outcome() { jq -e "$1" "$work/outcome" >/dev/null; }
whole() { jq -es 'last | .type == "losses" and .steps == 0 and .children == 0' "$work/steps" >/dev/null; }
on_failure() { cat "$work/outcome" "$work/engine.err" 2>/dev/null | cut -c1-1500; tail -n 3 "$work/steps" | cut -c1-600; }
all=$stand/nvml:$stand/cuda

echo "== a start that goes through"
start "$all" STAND_IN_CHILD_NVML=1 STAND_IN_BACKEND="$stand/backend/libggml-cuda.so"
check "it reaches its first graph" outcome '.complete and .reached == "first graph" and .stopped == null'
check "with the runtime and its devices" outcome '.family == "cuda" and .devices == 1'
check "no step is lost" whole
check "the command's own status is passed on" test $started = 0
check "the child's program is followed, with its parent" step \
	'.step == "exec" and (.path | endswith("/llama-server")) and .argv == ["llama-server", "-m", "m.gguf"]'
check "and the environment it got, of what matters" step \
	'.step == "exec" and (.path | endswith("/llama-server")) and
	 (.environment | index("LD_LIBRARY_PATH='"$all"'")) and (.environment | all(startswith("PATH=") | not))'
check "calls are told with result, devices and time" step \
	'.step == "return" and .function == "nvmlDeviceGetCount_v2" and .ok and .devices == 1 and .duration_ns > 0'
check "ggml_backend_load with what it was told" step \
	'.step == "call" and .function == "ggml_backend_load" and .argument == "'"$stand"'/backend/libggml-cuda.so"'
in_order() { jq -es "$1" "$work/steps" >/dev/null; }
check "stages come in their order" in_order '[.[] | select(.step == "return") | .function] |
	index("nvmlInit_v2") < index("cuInit") and index("cuInit") < index("cuDeviceGetCount") and
	index("cuDeviceGetCount") < index("ggml_backend_buft_alloc_buffer") and
	index("ggml_backend_buft_alloc_buffer") < index("ggml_backend_sched_graph_compute_async")'

echo "== each way not to see a GPU"
start "$stand/other:$stand/ggml"
check "NVML missing: the library is named" outcome '.stopped.cause == "library_missing" and
	.stopped.what == "libnvidia-ml.so.1" and .stopped.stage == "library load" and .complete == false'
check "place by place" outcome '.stopped.places | index("'"$stand"'/other/libnvidia-ml.so.1") != null and
	index("'"$stand"'/ggml/libnvidia-ml.so.1") != null'
check "each place is a step with its errno" step \
	'.step == "open" and .path == "'"$stand"'/other/libnvidia-ml.so.1" and .error == "ENOENT"'
start "$stand/nvml-symbol"
check "one symbol undefined: it and its library are named" outcome '.stopped.cause == "symbol_undefined" and
	.stopped.what == "nvmlDeviceGetCount_v2" and .stopped.of == "'"$stand"'/nvml-symbol/libnvidia-ml.so.1"'
start "$stand/nvml-needs"
check "a library that needs a symbol nobody has: told as it is loaded" outcome \
	'.stopped.cause == "symbol_undefined" and .stopped.what == "call_libvgpu_set_skip_interception" and
	 (.stopped.detail | test("loaded")) and .family == "nvml"'
start "$stand/nvml-init"
check "init failing: the call and its result are named" outcome '.stopped.cause == "init_failed" and
	.stopped.what == "nvmlInit_v2" and .stopped.detail == "NVML_ERROR_DRIVER_NOT_LOADED (9)" and
	.stopped.stage == "runtime init"'
start "$stand/nvml-none"
check "count zero: told apart from a failure" outcome '.stopped.cause == "no_device" and
	.stopped.what == "nvmlDeviceGetCount_v2" and .stopped.stage == "device query"'
start "$all" STAND_IN_CHILD_BARE=1 STAND_IN_CHILD_NVML=1
check "loaded in the parent but not in the child, which looks for it in vain" outcome \
	'.stopped.cause == "not_in_child" and .stopped.what == "libnvidia-ml" and .stopped.of == "ollama" and
	 (.stopped.detail | test("LD_LIBRARY_PATH is not set")) and (.stopped.text | test("llama-server"))'
start "$all" STAND_IN_CHILD_BARE=1
check "or does not look for it at all" outcome '.stopped.cause == "not_in_child"'
check "the child's end and graph are told all the same" outcome '.complete and .reached == "first graph"'
start "$all" STAND_IN_CHILD_NVML=1
check "the backend's library never loaded: it is named" outcome '.stopped.cause == "backend_not_loaded" and
	.stopped.what == "libggml-cuda.so" and .family == "nvml" and .devices == 1'
start "$stand/nvml" STAND_IN_CHILD_NVML=1 STAND_IN_BACKEND="$stand/backend/libggml-cuda.so" STAND_IN_NO_GRAPH=1
check "the backend's library found, its dependency not: both are named" outcome \
	'.stopped.cause == "dependency_missing" and .stopped.what == "libcuda.so.1" and
	 (.stopped.of | endswith("/backend/libggml-cuda.so"))'
start "$stand/nvml:$stand/cuda-init" STAND_IN_CHILD_NVML=1 STAND_IN_BACKEND="$stand/backend/libggml-cuda.so" \
	STAND_IN_NO_GRAPH=1
check "CUDA's init failing in the child, where NVML is well" outcome '.stopped.cause == "init_failed" and
	.stopped.what == "cuInit" and .stopped.detail == "CUDA_ERROR_UNKNOWN (999)"'

echo "== how children end"
start "$stand/nvml:$stand/cuda-crash" STAND_IN_BACKEND="$stand/backend/libggml-cuda.so"
check "a crash is told with signal, call and stage" outcome '.stopped.cause == "crashed" and .stopped.code == 11 and
	.stopped.what == "cuInit" and .stopped.stage == "runtime init" and .stopped.of == "llama-server"'
check "and the time since its start" step '.step == "exit" and .signal == 11 and .after_ns > 0'
"$STAGE/usr/sbin/davylamp" run --json --socket "$work/told.sock" --state "$work/told" --config "$work" \
	>"$work/told.out" 2>/dev/null &
told=$!
until_true 20 test -S "$work/told.sock"
options="--socket $work/told.sock"
start "$stand/nvml:$stand/cuda-crash" STAND_IN_BACKEND="$stand/backend/libggml-cuda.so"
options=''
check "an agent that runs hears of it: a hazard with the stage" until_true 5 bash -c "grep '\"decision\"' '$work/told.out' | jq -es \
	'any(.[]; .hazard == \"runner_crash\" and .level == 2 and .backend == \"cuda\" and
		(.because | test(\"SIGSEGV at the stage runtime init in cuInit\")))' >/dev/null"
kill "$told"
wait "$told" 2>/dev/null
start "$all" STAND_IN_CHILD_NVML=1 STAND_IN_WAITS=1 STAND_IN_BACKEND="$stand/backend/libggml-cuda.so"
check "a child that its parent kills is no crash" outcome '.stopped == null and .family == "cuda"'
check "its end is told as meant" step '.step == "exit" and .signal == 9 and .on_purpose'
options='--timeout 6s' engine_name=llama-server
( sleep 8; kill "$(pgrep -f "^$stand/bin/llama-server" | head -n 1)" 2>/dev/null ) &
start "$stand/cuda-hang" STAND_IN_BACKEND="$stand/backend/libggml-cuda.so"
options='' engine_name=''
check "a call that does not come back is named, and the command goes on" outcome \
	'.stopped.cause == "hangs" and .stopped.what == "cuInit"'
check "its end by a signal is its status" test $started = 143

echo "== programs that do not start"
env LD_LIBRARY_PATH="$stand/other" "$program" trace discovery --json --out "$work/steps" -- \
	"$work/no/such/engine" >"$work/engine.out" 2>"$work/engine.err"
check "a command that is not there: status 127, and said so" bash -c "[[ $? == 127 ]] && grep -q 'cannot be started' '$work/engine.err'"
mkdir -p "$stand/lost"
in_stand gcc -O1 -o "$stand/lost/llama-server" tests/bpf/start/engine.c "$stand"/ggml/libggml.so.0 "$stand"/ggml/libggml-base.so.0
"$program" trace discovery --json --out "$work/steps" -- "$stand/lost/llama-server" 2>"$work/engine.err"
started=$?
tail -n 2 "$work/steps" | head -n 1 >"$work/outcome"
check "a program whose own libraries are missing" outcome '.stopped.cause == "library_missing" and
	(.stopped.what | startswith("libggml"))'
check "its status is the linker's" test $started = 127

mkdir -p "$stand/own"
cp "$(readlink -f /lib64/ld-linux-x86-64.so.2)" "$stand/own/ld-linux-own.so.2"
in_stand gcc -O1 -o "$stand/own/llama-server" tests/bpf/start/engine.c "$stand"/ggml/libggml.so.0 \
	"$stand"/ggml/libggml-base.so.0 -Wl,-z,now -Wl,--dynamic-linker="$stand/own/ld-linux-own.so.2"
in_stand gcc -shared -o "$stand/own/libggml.so.0" -x c /dev/null -Wl,-soname,libggml.so.0
env LD_LIBRARY_PATH="$stand/own:$stand/ggml" "$program" trace discovery --json --out "$work/steps" -- \
	/bin/sh -c "'$stand/own/llama-server'; exit 5" 2>"$work/engine.err"
check "a program with an ld.so of its own, which another one starts" test $? = 5
tail -n 2 "$work/steps" | head -n 1 >"$work/outcome"
check "what that ld.so says is heard from its first moment" outcome '.stopped.cause == "symbol_undefined" and
	(.stopped.what | startswith("ggml_backend")) and (.stopped.of | endswith("/own/llama-server"))'

echo "== exceptions through a watched call"
in_stand g++ -O1 -shared -fPIC -DLIBRARY -o "$stand/lost/libggml.so.0" tests/bpf/start/throws.cc -Wl,-soname,libggml.so.0
in_stand g++ -O1 -o "$stand/lost/thrower" tests/bpf/start/throws.cc "$stand/lost/libggml.so.0" -Wl,-rpath,"$stand/lost"
"$program" trace discovery --json --out "$work/steps" -- "$stand/lost/thrower" >/dev/null 2>"$work/engine.err"
check "they are caught as without it" test $? = 7
check "and the calls were seen" test 20 = "$(jq -s 'map(select(.step == "call" and .function == "ggml_backend_load")) | length' "$work/steps")"

echo "== names that want to break lines"
bad=$stand/$'new\nline \e[31mred \xff\\'
mkdir -p "$bad"
cp "$stand/bin/ollama" "$bad/ollama"
cp "$stand/bin/llama-server" "$bad/llama-server"
env LD_LIBRARY_PATH="$bad" OLLAMA_$'X\n\e]0;t\a'=$'\xc3(' "$program" trace discovery --json --out "$work/steps" -- \
	"$bad/ollama" $'an\nargument\t\xfe' >/dev/null 2>&1
check "JSON stays one object a line" in_order 'length > 3 and all(.[]; type == "object")'
check "as many lines as objects" test "$(wc -l <"$work/steps")" = "$(jq -s length "$work/steps")"
check "a path is shown and not obeyed" step '.step == "exec" and (.path | contains("new\\x0aline \\x1b[31mred \\xff\\\\"))'
env LD_LIBRARY_PATH="$bad" OLLAMA_$'X\n\e]0;t\a'=$'\xc3(' "$program" trace discovery --out "$work/text" -- \
	"$bad/ollama" $'an\nargument\t\xfe' >/dev/null 2>&1
check "text holds no control byte and no invalid UTF-8" bash -c \
	"! LC_ALL=C grep -qP '[\\x00-\\x09\\x0b-\\x1f\\x7f]' '$work/text' && iconv -f utf-8 -t utf-8 '$work/text' >/dev/null"
check "each line of text is one of ours" bash -c \
	"! grep -vE '^( *[+-][0-9.]+ ms +[0-9]+  |                                       |reached: |stopped|without|because: |also: |$)' '$work/text'"

echo "== a process that runs, a unit that starts"
env LD_LIBRARY_PATH="$all" STAND_IN_SLOW=1 STAND_IN_CHILD_NVML=1 \
	STAND_IN_BACKEND="$stand/backend/libggml-cuda.so" "$stand/bin/ollama" &
slow=$!
"$program" trace discovery --json --out "$work/steps" --pid $slow 2>"$work/engine.err"
check "--pid follows what it does from now on, and its children, to the first graph" test $? = 0
tail -n 2 "$work/steps" | head -n 1 >"$work/outcome"
check "with the environment it runs in" step '.step == "exec" and .pid == '"$slow"' and
	(.environment | index("LD_LIBRARY_PATH='"$all"'"))'
check "and its calls" step '.step == "return" and .function == "nvmlInit_v2" and .pid == '"$slow"
check "and the graph of its child" outcome '.complete and .family == "cuda"'
wait $slow
group=''
for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[[ -e $root/cgroup.procs ]] && group=$root/davylamp-test-$$.service && break
done
if [[ $group ]] && mkdir "$group" 2>/dev/null; then
	"$program" trace discovery --json --out "$work/steps" --unit "davylamp-test-$$" 2>"$work/engine.err" &
	tracer=$!
	until_true 10 grep -q 'waiting for the next start' "$work/engine.err"
	sleep 0.5
	LD_LIBRARY_PATH=$stand/nvml-init bash -c "echo \$\$ >'$group/cgroup.procs' && exec '$stand/bin/ollama'"
	wait $tracer
	check "--unit follows what starts in its cgroup; a stop is status 1" test $? = 1
	tail -n 2 "$work/steps" | head -n 1 >"$work/outcome"
	check "and tells why it stopped" outcome '.stopped.cause == "init_failed" and .stopped.what == "nvmlInit_v2"'
	rmdir "$group"
else
	skip "trace discovery --unit" "no cgroup can be made here"
fi

echo "== who may not"
# Where another user can go: the programs may lie under /root.
mkdir "$work/programs" && cp "$program" "$program-trace" "$work/programs/" && chmod 755 "$work" "$work/programs"
check "without rights it says so: status 3" exits 3 setpriv --reuid 65534 --clear-groups "$work/programs/davylamp" trace discovery -- true
check "with what to do" says 'needs root'
check "nothing to follow is a wrong use" exits 2 "$program" trace discovery
check "two things to follow, too" exits 2 "$program" trace discovery --pid 1 -- true
check "a pid that is none" exits 2 "$program" trace discovery --pid x
check "--help tells the stages" exits 0 "$program" trace discovery --help
check "in its own words" says 'first'
