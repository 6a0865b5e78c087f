# SPDX-License-Identifier: GPL-2.0-or-later
#
# 'davylamp trace discovery' on starts that fail in each way in which an engine can miss its GPU: real
# programs, real dynamic linking, and stand-in libraries. Sourced by tests/bpf/run.

stand=$work/start
mkdir -p "$stand"/{bin,nvml,other,cuda,ggml}
in_stand() { # COMMAND...: a compiler run without output
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

# start LIBRARY_PATH VARIABLE...: the stand-in ollama under trace; steps and outcome in $work/steps.
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
check "a complete start reaches its first graph" outcome '.complete and .reached == "first graph" and .stopped == null'
check "the outcome names the runtime family and counts its devices" outcome '.family == "cuda" and .devices == 1'
check "a complete start loses no step" whole
check "trace discovery returns the exit status of the command" test $started = 0
check "a child program is traced, with its parent" step \
	'.step == "exec" and (.path | endswith("/llama-server")) and .argv == ["llama-server", "-m", "m.gguf"]'
check "an exec step contains the relevant environment variables" step \
	'.step == "exec" and (.path | endswith("/llama-server")) and
	 (.environment | index("LD_LIBRARY_PATH='"$all"'")) and (.environment | all(startswith("PATH=") | not))'
check "a call step contains result, device count and duration" step \
	'.step == "return" and .function == "nvmlDeviceGetCount_v2" and .ok and .devices == 1 and .duration_ns > 0'
check "ggml_backend_load contains its path argument" step \
	'.step == "call" and .function == "ggml_backend_load" and .argument == "'"$stand"'/backend/libggml-cuda.so"'
in_order() { jq -es "$1" "$work/steps" >/dev/null; }
check "returns of calls are printed in order" in_order '[.[] | select(.step == "return") | .function] |
	index("nvmlInit_v2") < index("cuInit") and index("cuInit") < index("cuDeviceGetCount") and
	index("cuDeviceGetCount") < index("ggml_backend_buft_alloc_buffer") and
	index("ggml_backend_buft_alloc_buffer") < index("ggml_backend_sched_graph_compute_async")'

echo "== each way not to see a GPU"
start "$stand/other:$stand/ggml"
check "a missing NVML is named as the cause" outcome '.stopped.cause == "library_missing" and
	.stopped.what == "libnvidia-ml.so.1" and .stopped.stage == "library load" and .complete == false'
check "the outcome lists the places where NVML was searched" outcome '.stopped.places | index("'"$stand"'/other/libnvidia-ml.so.1") != null and
	index("'"$stand"'/ggml/libnvidia-ml.so.1") != null'
check "each searched place is a step with its errno" step \
	'.step == "open" and .path == "'"$stand"'/other/libnvidia-ml.so.1" and .error == "ENOENT"'
start "$stand/nvml-symbol"
check "an undefined symbol is named together with its library" outcome '.stopped.cause == "symbol_undefined" and
	.stopped.what == "nvmlDeviceGetCount_v2" and .stopped.of == "'"$stand"'/nvml-symbol/libnvidia-ml.so.1"'
start "$stand/nvml-needs"
check "a library with an undefined symbol is reported when it is loaded" outcome \
	'.stopped.cause == "symbol_undefined" and .stopped.what == "call_libvgpu_set_skip_interception" and
	 (.stopped.detail | test("loaded")) and .family == "nvml"'
start "$stand/nvml-init"
check "a failing init call is named with its result" outcome '.stopped.cause == "init_failed" and
	.stopped.what == "nvmlInit_v2" and .stopped.detail == "NVML_ERROR_DRIVER_NOT_LOADED (9)" and
	.stopped.stage == "runtime init"'
start "$stand/nvml-none"
check "a device count of zero is distinguished from a failure" outcome '.stopped.cause == "no_device" and
	.stopped.what == "nvmlDeviceGetCount_v2" and .stopped.stage == "device query"'
start "$all" STAND_IN_CHILD_BARE=1 STAND_IN_CHILD_NVML=1
check "a library that the child cannot find but the parent loaded is reported" outcome \
	'.stopped.cause == "not_in_child" and .stopped.what == "libnvidia-ml" and .stopped.of == "ollama" and
	 (.stopped.detail | test("LD_LIBRARY_PATH is not set")) and (.stopped.text | test("llama-server"))'
start "$all" STAND_IN_CHILD_BARE=1
check "a library that the child does not search but the parent loaded is reported" outcome '.stopped.cause == "not_in_child"'
check "the outcome contains the child's end and graph" outcome '.complete and .reached == "first graph"'
start "$all" STAND_IN_CHILD_NVML=1
check "a backend library that is never loaded is named" outcome '.stopped.cause == "backend_not_loaded" and
	.stopped.what == "libggml-cuda.so" and .family == "nvml" and .devices == 1'
start "$stand/nvml" STAND_IN_CHILD_NVML=1 STAND_IN_BACKEND="$stand/backend/libggml-cuda.so" STAND_IN_NO_GRAPH=1
check "a missing dependency of the backend library is named together with it" outcome \
	'.stopped.cause == "dependency_missing" and .stopped.what == "libcuda.so.1" and
	 (.stopped.of | endswith("/backend/libggml-cuda.so"))'
start "$stand/nvml:$stand/cuda-init" STAND_IN_CHILD_NVML=1 STAND_IN_BACKEND="$stand/backend/libggml-cuda.so" \
	STAND_IN_NO_GRAPH=1
check "a failing CUDA init in the child is named although NVML works" outcome '.stopped.cause == "init_failed" and
	.stopped.what == "cuInit" and .stopped.detail == "CUDA_ERROR_UNKNOWN (999)"'

echo "== how children end"
start "$stand/nvml:$stand/cuda-crash" STAND_IN_BACKEND="$stand/backend/libggml-cuda.so"
check "a crash is reported with signal, call and stage" outcome '.stopped.cause == "crashed" and .stopped.code == 11 and
	.stopped.what == "cuInit" and .stopped.stage == "runtime init" and .stopped.of == "llama-server"'
check "an exit step contains the signal and the time since the start" step '.step == "exit" and .signal == 11 and .after_ns > 0'
"$STAGE/usr/sbin/davylamp" run --json --socket "$work/told.sock" --state "$work/told" --config "$work" \
	>"$work/told.out" 2>/dev/null &
told=$!
until_true 20 test -S "$work/told.sock"
options="--socket $work/told.sock"
start "$stand/nvml:$stand/cuda-crash" STAND_IN_BACKEND="$stand/backend/libggml-cuda.so"
options=''
check "a running agent raises a hazard with the stage of the crash" until_true 5 bash -c "grep '\"decision\"' '$work/told.out' | jq -es \
	'any(.[]; .hazard == \"runner_crash\" and .level == 2 and .backend == \"cuda\" and
		(.because | test(\"SIGSEGV at the stage runtime init in cuInit\")))' >/dev/null"
kill "$told"
wait "$told" 2>/dev/null
start "$all" STAND_IN_CHILD_NVML=1 STAND_IN_WAITS=1 STAND_IN_BACKEND="$stand/backend/libggml-cuda.so"
check "a child that its parent kills is not a crash" outcome '.stopped == null and .family == "cuda"'
check "a kill by the parent is marked as on purpose" step '.step == "exit" and .signal == 9 and .on_purpose'
options='--timeout 6s' engine_name=llama-server
( sleep 8; kill "$(pgrep -f "^$stand/bin/llama-server" | head -n 1)" 2>/dev/null ) &
start "$stand/cuda-hang" STAND_IN_BACKEND="$stand/backend/libggml-cuda.so"
options='' engine_name=''
check "a call that does not return is named, and the command continues" outcome \
	'.stopped.cause == "hangs" and .stopped.what == "cuInit"'
check "trace discovery returns 128 + the signal of the command" test $started = 143

echo "== programs that do not start"
env LD_LIBRARY_PATH="$stand/other" "$program" trace discovery --json --out "$work/steps" -- \
	"$work/no/such/engine" >"$work/engine.out" 2>"$work/engine.err"
check "a missing command gives exit status 127 and a message" bash -c "[[ $? == 127 ]] && grep -q 'cannot be started' '$work/engine.err'"
mkdir -p "$stand/lost"
in_stand gcc -O1 -o "$stand/lost/llama-server" tests/bpf/start/engine.c "$stand"/ggml/libggml.so.0 "$stand"/ggml/libggml-base.so.0
"$program" trace discovery --json --out "$work/steps" -- "$stand/lost/llama-server" 2>"$work/engine.err"
started=$?
tail -n 2 "$work/steps" | head -n 1 >"$work/outcome"
check "missing libraries of the program itself are named" outcome '.stopped.cause == "library_missing" and
	(.stopped.what | startswith("libggml"))'
check "the exit status of the dynamic linker is returned" test $started = 127

mkdir -p "$stand/own"
cp "$(readlink -f /lib64/ld-linux-x86-64.so.2)" "$stand/own/ld-linux-own.so.2"
in_stand gcc -O1 -o "$stand/own/llama-server" tests/bpf/start/engine.c "$stand"/ggml/libggml.so.0 \
	"$stand"/ggml/libggml-base.so.0 -Wl,-z,now -Wl,--dynamic-linker="$stand/own/ld-linux-own.so.2"
in_stand gcc -shared -o "$stand/own/libggml.so.0" -x c /dev/null -Wl,-soname,libggml.so.0
env LD_LIBRARY_PATH="$stand/own:$stand/ggml" "$program" trace discovery --json --out "$work/steps" -- \
	/bin/sh -c "'$stand/own/llama-server'; exit 5" 2>"$work/engine.err"
check "a program with another ld.so that is started by a child is traced" test $? = 5
tail -n 2 "$work/steps" | head -n 1 >"$work/outcome"
check "steps of the other ld.so are traced from its start" outcome '.stopped.cause == "symbol_undefined" and
	(.stopped.what | startswith("ggml_backend")) and (.stopped.of | endswith("/own/llama-server"))'

echo "== exceptions through a watched call"
in_stand g++ -O1 -shared -fPIC -DLIBRARY -o "$stand/lost/libggml.so.0" tests/bpf/start/throws.cc -Wl,-soname,libggml.so.0
in_stand g++ -O1 -o "$stand/lost/thrower" tests/bpf/start/throws.cc "$stand/lost/libggml.so.0" -Wl,-rpath,"$stand/lost"
"$program" trace discovery --json --out "$work/steps" -- "$stand/lost/thrower" >/dev/null 2>"$work/engine.err"
check "exceptions are caught in a traced program" test $? = 7
check "calls that throw are traced" test 20 = "$(jq -s 'map(select(.step == "call" and .function == "ggml_backend_load")) | length' "$work/steps")"

echo "== names that want to break lines"
bad=$stand/$'new\nline \e[31mred \xff\\'
mkdir -p "$bad"
cp "$stand/bin/ollama" "$bad/ollama"
cp "$stand/bin/llama-server" "$bad/llama-server"
env LD_LIBRARY_PATH="$bad" OLLAMA_$'X\n\e]0;t\a'=$'\xc3(' "$program" trace discovery --json --out "$work/steps" -- \
	"$bad/ollama" $'an\nargument\t\xfe' >/dev/null 2>&1
check "each JSON line is one object" in_order 'length > 3 and all(.[]; type == "object")'
check "the number of JSON lines equals the number of objects" test "$(wc -l <"$work/steps")" = "$(jq -s length "$work/steps")"
check "control characters in a path are escaped" step '.step == "exec" and (.path | contains("new\\x0aline \\x1b[31mred \\xff\\\\"))'
env LD_LIBRARY_PATH="$bad" OLLAMA_$'X\n\e]0;t\a'=$'\xc3(' "$program" trace discovery --out "$work/text" -- \
	"$bad/ollama" $'an\nargument\t\xfe' >/dev/null 2>&1
check "the text output contains no control characters and no invalid UTF-8" bash -c \
	"! LC_ALL=C grep -qP '[\\x00-\\x09\\x0b-\\x1f\\x7f]' '$work/text' && iconv -f utf-8 -t utf-8 '$work/text' >/dev/null"
check "each line of the text output has a known format" bash -c \
	"! grep -vE '^( *[+-][0-9.]+ ms +[0-9]+  |                                       |reached: |stopped|without|because: |also: |$)' '$work/text'"

echo "== a process that runs, a unit that starts"
env LD_LIBRARY_PATH="$all" STAND_IN_UNTIL="$work/go" STAND_IN_CHILD_NVML=1 \
	STAND_IN_BACKEND="$stand/backend/libggml-cuda.so" "$stand/bin/ollama" &
slow=$!
"$program" trace discovery --json --out "$work/steps" --pid $slow 2>"$work/engine.err" &
tracer=$!
until_true 60 grep -q "following process $slow" "$work/engine.err"
touch "$work/go"
wait $tracer
check "--pid traces a running process and its children until the first graph" test $? = 0
tail -n 2 "$work/steps" | head -n 1 >"$work/outcome"
check "--pid prints the environment of the running process" step '.step == "exec" and .pid == '"$slow"' and
	(.environment | index("LD_LIBRARY_PATH='"$all"'"))'
check "--pid prints calls of the running process" step '.step == "return" and .function == "nvmlInit_v2" and .pid == '"$slow"
check "--pid prints the graph of the child" outcome '.complete and .family == "cuda"'
wait $slow
group=''
for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[[ -e $root/cgroup.procs ]] && group=$root/davylamp-test-$$.service && break
done
if [[ $group ]] && mkdir "$group" 2>/dev/null; then
	"$program" trace discovery --json --out "$work/steps" --unit "davylamp-test-$$" 2>"$work/engine.err" &
	tracer=$!
	until_true 60 grep -q 'waiting for the next start' "$work/engine.err"
	LD_LIBRARY_PATH=$stand/nvml-init bash -c "echo \$\$ >'$group/cgroup.procs' && exec '$stand/bin/ollama'"
	wait $tracer
	check "--unit traces what starts in its cgroup, and a failed start gives exit status 1" test $? = 1
	tail -n 2 "$work/steps" | head -n 1 >"$work/outcome"
	check "--unit names the cause of the failed start" outcome '.stopped.cause == "init_failed" and .stopped.what == "nvmlInit_v2"'
	rmdir "$group"
else
	skip "trace discovery --unit" "no cgroup can be made here"
fi

echo "== who may not"
# Programs may lie under /root: copy them to where another user can run them.
mkdir "$work/programs" && cp "$program" "$program-trace" "$work/programs/" && chmod 755 "$work" "$work/programs"
check "trace discovery without root exits with 3" exits 3 setpriv --reuid 65534 --clear-groups "$work/programs/davylamp" trace discovery -- true
check "trace discovery without root explains that it needs root" says 'needs root'
check "trace discovery without a command exits with 2" exits 2 "$program" trace discovery
check "trace discovery --pid with a command exits with 2" exits 2 "$program" trace discovery --pid 1 -- true
check "trace discovery --pid with an invalid pid exits with 2" exits 2 "$program" trace discovery --pid x
check "trace discovery --help exits with 0" exits 0 "$program" trace discovery --help
check "trace discovery --help lists the stages" says 'first'
