# SPDX-License-Identifier: GPL-2.0-or-later
# Other vendors, what the kernel was told, memory, hostile names, no GPU; sourced by tests/doctor/run.

echo "== Intel and NVIDIA"
empty_host
gpu 0x8086 0x9a49 i915
service_runs "${radv[@]}"
with_engine
check "Level Zero is looked for on an Intel GPU, and hostile names are shown" found runtime.levelzero ok \
	'.evidence | test("Intel\\(R\\) Stand-in \\\\x1b.31mGraphics\\\\x0a")'
check "Ollama drops an integrated GPU" found config.igpu failure '.fix | test("OLLAMA_IGPU_ENABLE=1")'
service_runs "${radv[@]}" OLLAMA_IGPU_ENABLE=1 STANDIN_ZE=abort
with_engine
check "unless it is told not to" found config.igpu ok
check "zeInit dies: Vulkan is the policy" concludes 1 '(.causes | map(.check)) == ["runtime.levelzero"] and .policy.backends == ["vulkan", "cpu"]'
empty_host
gpu 0x10de 0x2330 nvidia
for n in ctl:255 -uvm:0 0:0; do mknod -m 666 "$LAB_ROOT/dev/nvidia${n%:*}" c 1 3; done
put /sys/module/nvidia/version 580.159.04
service_runs STANDIN_NVML=ok
of_service
check "the NVIDIA driver's version" found driver.bound ok '.evidence == "nvidia 580.159.04"'
check "its device files" found access.open ok '.about == "/dev/nvidia-uvm"'
check "NVML finds it" found runtime.nvml ok '.evidence | test("NVIDIA Stand-in")'
libraries=$here/half:$here/lib service_runs
of_service
check "a symbol of NVML is missing" found runtime.nvml failure '.evidence | test("no symbol .nvmlDeviceGetMemoryInfo")'
rm "$LAB_ROOT/dev/nvidia-uvm"
service_runs
of_service
check "nvidia-uvm is missing" concludes 1 'any(.causes[]; .check == "nodes.present" and .about == "/dev/nvidia-uvm")'

echo "== what the kernel was told"
mi50
printf 'quiet amdgpu.runpm=0 amdgpu.cwsr_enabel=0 amdgpu.lockup_timeout=10000,10000,10000,10000\n' >"$work/cmdline"
mount --bind "$work/cmdline" "$LAB_ROOT/proc/cmdline"
put /etc/modprobe.d/gpu.conf '# options amdgpu noretry=1
options amdgpu vm_size=0x100 gpu_recovery="1"
options snd-hda-intel power_save=1'
put /sys/module/amdgpu/parameters/runpm -1
put /sys/module/amdgpu/parameters/lockup_timeout 10000
put /sys/module/amdgpu/parameters/vm_size 256
put /sys/module/amdgpu/parameters/gpu_recovery 1
at_pci power/control auto
service_runs "${radv[@]}"
of_service
umount "$LAB_ROOT/proc/cmdline"
check "a parameter that did not take" found driver.parameters warning '.about == "amdgpu.runpm" and (.evidence | test("sets .0., but the kernel has .-1."))'
check "a typing error" found driver.parameters warning '.about == "amdgpu.cwsr_enabel" and (.evidence | test("no parameter of this name"))'
check "one that the driver has cut is in order" found driver.parameters ok '.about == "amdgpu.lockup_timeout"'
check "so is another way to write a number" found driver.parameters ok '.about == "amdgpu.vm_size"'
check "and a quoted one" found driver.parameters ok '.about == "amdgpu.gpu_recovery" and (.evidence | test("modprobe.d/gpu.conf"))'
check "other modules and comments are none of its business" bash -c "! grep -qE 'power_save|noretry' '$report'"
check "a GPU without a display that may sleep" found driver.sleep warning '.fix | test("echo on > ")'

echo "== a batch against the lockup timeout"
printf '[rule mine]\nif backend = vulkan\nif lockup_below = 3 s\nubatch = 64\n' >"$rules"
of_service
check "time enough: no rule has a smaller one" found model.lockup ok '.evidence == "jobs are ended after 10000 ms, batch 512"'
put /sys/module/amdgpu/parameters/lockup_timeout 2000
of_service
check "two seconds: the rule's batch is the fix" found model.lockup warning \
	'(.evidence | test("after 2000 ms, batch 512: long prompts")) and (.fix | test("-ub 64.*amdgpu.lockup_timeout=10000"))'
put /sys/module/amdgpu/parameters/lockup_timeout -1
of_service
check "no timeout at all" found model.lockup ok '.evidence == "jobs are never ended, batch 512"'
rm "$rules"

echo "== memory"
of_service --model "$here/tiny.gguf"
check "a model that fits" found model.memory ok
at_pci mem_info_vram_total 1000000
of_service --model "$here/tiny.gguf"
check "one that does not" found model.memory warning '.evidence | test("it does not fit")'
of_service --model "$here/service"
check "what is no model could not be checked" found model.memory could-not-check

echo "== hostile names"
bad=$here/$'evil\n\e[31m\xff'
mkdir -p "$LAB_ROOT$bad"
cp "$LAB_ROOT$here/service" "$LAB_ROOT$bad/llama-server"
mi50
service_runs "${radv[@]}" ROCR_VISIBLE_DEVICES=$'-1\n\e]0;x\a\xff' STANDIN_HSA=zero
of_service --engine "$bad/llama-server" --model "$bad/none.gguf"
check "every line is a JSON object" bash -c "jq -es 'all(.[]; type == \"object\")' '$report' >/dev/null &&
	test \$(wc -l <'$report') == \$(jq -s length '$report')"
check "and what they hold is shown, not obeyed" concludes 1 '(.text | test("-1\\\\x0a\\\\x1b\\]0;x\\\\x07\\\\xff"))'
LD_LIBRARY_PATH="$here/lib" chroot "$LAB_ROOT" "$here/davylamp" doctor --pid "$service" --engine "$bad/llama-server" \
	--model "$bad/none.gguf" --timeout 4 >"$work/text" 2>&1
check "the text has no byte that a terminal obeys" bash -c "! LC_ALL=C grep -qP '[\\x00-\\x08\\x0b-\\x1f\\x7f\\xff]' '$work/text'"
check "it names the root cause" grep -q '^root cause: .*a variable hides the GPU (no ROCm)' "$work/text"
check "each fault has a fix and a way to verify it" bash -c "grep -A2 FAILURE '$work/text' | grep -c 'fix:' | grep -qv '^0' && grep -A2 FAILURE '$work/text' | grep -q 'verify:'"

echo "== other engines"
service_runs "${radv[@]}"
of_service -- "$here/opt/lib/ollama/llama-server" --version
check "a command of one's own that ends well" found engine.discovery ok
of_service -- "$here/no-such-engine" x
check "one that is not there" found engine.discovery failure '.evidence | test("cannot be run: No such file")'
of_service -- "$here/davylamp-probe" confined
check "it runs without privileges, in the sandbox" found engine.discovery ok

echo "== users"
end_service
doctor --user ollama
check "a user by name, with the groups of /etc/group" found access.service ok '.evidence | test("user ollama .1998., group 1998, further groups .*1109")'
check "who may open the device" found access.open ok
doctor --user 1234:1235:7,$render
check "or by numbers" found access.service ok '.evidence | test("user 1234 .1234., group 1235, further groups 7 1109")'
check "who may, too" found access.open ok '.about == "/dev/kfd"'
doctor --user 1234
check "and who may not" found access.open failure '.about == "/dev/kfd"'
# Whoever is not root looks at himself, and at nobody else.
as=(--userspec=$uid:$uid --groups=$render)
doctor --user ollama
check "without being root: one's own user" found access.open ok '.about == "/dev/kfd"'
check "and what was left out is told" found self.capabilities could-not-check
doctor --user 1234
check "another one cannot be tried" found access.open could-not-check '.fix | test("as root")'
check "nor its runtimes" found runtime.rocm could-not-check '.evidence | test("only root can run programs as another user")'
as=()
doctor --user nobody-at-all
check "an unknown user is refused" test "$status" == 2
check "by name" grep -q "no user 'nobody-at-all'" "$work/err"
doctor --pid 0
check "so is a pid that is none" test "$status" == 2

echo "== no GPU"
empty_host
doctor --user ollama --engine "$here/opt/bin/ollama"
check "a host without one: exit 4" concludes 4 '.kind == "no-gpu" and .causes == [] and .policy == null'
check "says so, and what it could not check" concludes 4 '.text | test("this host has no GPU.*could not be checked")'
check "by a finding" found driver.gpu could-not-check
doctor
unnamed() { # whoever else uses this machine may have an engine running
	found access.service could-not-check '.fix | test("--unit UNIT")' || found access.service ok '.evidence | test("as in its process")'
}
check "as root without a service it says what is missing, or takes the one engine that runs" unnamed
