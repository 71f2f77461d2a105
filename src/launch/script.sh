shopt -s nullglob

stamp=$(date +%Y%m%d_%H%M%S)
mark=$stamp.$$.$RANDOM
log_file=$sweep_dir/nccl_thread_sweep_$stamp.log
statuses=()
durations=()
from_records=no
tee_process=
pipe_dir=

say() {
  printf '[%s] %s\n' "$(date '+%Y-%m-%d %H:%M:%S')" "$1" | tee -i -a -- "$log_file"
}

# read_stat FILE: state and group of a process; of one that is gone, nothing.
read_stat() {
  local fields=
  { read -r -d '' fields <"$1"; } 2>/dev/null
  read -r state _ group _ <<<"${fields##*) }"
}

# strays GROUP: processes of the run that left its group, as torchrun's workers do; they still
# carry the run's mark in their environment.
strays() {
  local file state group
  grep -lsxzF -- "JARVIS_SWEEP_RUN=$mark" /proc/[0-9]*/environ | while read -r file; do
    read_stat "${file%environ}stat"
    [ "$group" = "$1" ] || tr -dc '0-9\n' <<<"$file"
  done
}

# run_lives GROUP: has the run a process that has not ended? Ended ones may wait for their parent.
run_lives() {
  local file state group
  for file in /proc/[0-9]*/stat; do
    read_stat "$file"
    [ "$group" = "$1" ] && [ "$state" != Z ] && return 0
  done
  [ -n "$(strays "$1")" ]
}

# signal_run SIGNAL GROUP: to the run's processes and nobody else's.
signal_run() {
  local process
  kill "-$1" -- "-$2" 2>/dev/null || kill "-$1" "$2" 2>/dev/null
  strays "$2" | while read -r process; do kill "-$1" "$process" 2>/dev/null; done
}

# stop_run GROUP: asks its processes to end, and ends those that do not.
stop_run() {
  local waited=0
  signal_run TERM "$1"
  while run_lives "$1" && [ "$waited" -lt "$((grace_s * 5))" ]; do
    sleep 0.2
    waited=$((waited + 1))
  done
  signal_run KILL "$1"
  return 0
}

# readable FILE: is it JSON, perhaps compressed, with an end?
readable() {
  local last
  if [ "$(head -c 2 -- "$1" | od -An -tx1 | tr -d ' \n')" = 1f8b ]; then
    last=$(set -o pipefail && gzip -dc <"$1" 2>/dev/null | tail -c 64 | tr -d '[:space:]') || return 1
  else
    last=$(tail -c 64 -- "$1" | tr -d '[:space:]')
  fi
  case $last in *'}' | *']') return 0 ;; esac
  return 1
}

# has_rank DIRECTORY RANK: is there a readable trace of it?
has_rank() {
  local padded file
  printf -v padded '%02d' "$2"
  for file in "$1/torch_profiler/"rank{,_}{"$2","$padded"}/*.json{,.gz}; do
    [ -f "$file" ] && readable "$file" && return 0
  done
  return 1
}

# is_complete DIRECTORY: did the run end well, and is every rank's trace there? A directory alone
# says nothing: a failed run leaves one too.
is_complete() {
  local rank
  [ "$(cat -- "$1/exit_code" 2>/dev/null)" = 0 ] || return 1
  for ((rank = 0; rank < nproc; rank++)); do
    has_rank "$1" "$rank" || return 1
  done
}

# keep_earlier DIRECTORY: an earlier attempt moves aside, so that its traces and the new ones are
# never taken for one run.
keep_earlier() {
  local number=1 kept=$sweep_dir/.earlier_attempts/$1
  while [ -e "$kept.$number" ]; do number=$((number + 1)); done
  mkdir -p -- "${kept%/*}" && mv -T -- "$sweep_dir/$1" "$kept.$number" &&
    say "Moved the earlier attempt to .earlier_attempts/$1.$number"
}

write_summary() {
  [ "$aggregate" = yes ] || return 0
  local file=$sweep_dir/nccl_thread_sweep_summary_$stamp.txt
  local n=0
  {
    printf 'NCCL Channel & Thread Sweep Summary\nGenerated: %s\n\n' "$(date)"
    summary_row STATUS 'DURATION(s)' "${axis_titles[@]}"
    printf '%s\n' ----------------------------------------------------
    while [ "$n" -lt "$runs" ]; do
      describe "$n"
      [ "$from_records" = yes ] && read_record "$n"
      summary_row "${statuses[n]:-UNKNOWN}" "${durations[n]:-N/A}" "${values[@]}"
      n=$((n + 1))
      [ "$((n % group_size))" -eq 0 ] && echo
    done
    printf '\nOutput directories:\n'
    for ((n = 0; n < runs; n++)); do
      describe "$n"
      [ "$((n % group_size))" -eq 0 ] && printf '  %s:\n' "$group_title"
      printf '    - %s/\n' "$sweep_dir/$directory"
    done
  } | tee -i -- "$file"
  say "Summary saved to: $file"
}

# summary_row STATUS DURATION VALUE...
summary_row() {
  local status=$1 duration=$2 width=10 value
  shift 2
  for value in "$@"; do
    printf "%-${width}s " "${value//[[:cntrl:]]/ }"
    width=15
  done
  printf '%-10s %-15s\n' "$status" "$duration"
}

# read_record N: what the task that ran it left in the directory of the described run.
read_record() {
  local code
  code=$(cat -- "$sweep_dir/$directory/exit_code" 2>/dev/null) || return 0
  if [ "$code" = 0 ]; then statuses[$1]=SUCCESS; else statuses[$1]=FAILED; fi
  durations[$1]=$(cat -- "$sweep_dir/$directory/duration_s" 2>/dev/null)
}

# shellcheck disable=SC2317,SC2329  # called by trap
on_signal() {
  trap '' INT TERM HUP
  if [ -n "$tee_process" ] && [ "$!" != "$tee_process" ]; then
    say "Interrupted: ending the processes of this run (group $!)"
    stop_run "$!"
    printf '130\n' >"$sweep_dir/$directory/exit_code"
  fi
  [ "$scheduler" = slurm ] || write_summary
  exit 130
}

# execute: the described run in a process group of its own, its output to the log too.
execute() {
  local run_dir=$sweep_dir/$directory began=$SECONDS code waited=0
  pipe_dir=$(mktemp -d) && mkfifo -- "$pipe_dir/output" || return 1
  tee -i -- "$run_dir/run_output.log" <"$pipe_dir/output" &
  tee_process=$!
  setsid env -- "${environment[@]}" "JARVIS_SWEEP_RUN=$mark" "${command[@]}" </dev/null >"$pipe_dir/output" 2>&1 &
  wait "$!"
  code=$?
  run_lives "$!" && stop_run "$!"
  while kill -0 "$tee_process" 2>/dev/null && [ "$waited" -lt 50 ]; do
    sleep 0.1
    waited=$((waited + 1))
  done
  kill "$tee_process" 2>/dev/null
  tee_process=
  rm -rf -- "$pipe_dir"
  printf '%s\n' "$code" >"$run_dir/exit_code"
  printf '%s\n' "$((SECONDS - began))" >"$run_dir/duration_s"
  duration=$((SECONDS - began))
  return "$code"
}

# run_number N: 0 if it succeeded or was skipped.
run_number() {
  local code=0 duration=
  describe "$1"
  if { [ "$skip" = existing ] && [ -d "$sweep_dir/$directory" ]; } ||
    { [ "$skip" = complete ] && is_complete "$sweep_dir/$directory"; }; then
    say "Skipping $title ($skip)"
    statuses[$1]=SKIPPED
    return 0
  fi
  if [ -d "$sweep_dir/$directory" ]; then
    keep_earlier "$directory" || return 1
  fi
  mkdir -p -- "$sweep_dir/$directory" || return 1
  say "Running $title"
  say "Output directory: $sweep_dir/$directory"
  execute || code=$?
  durations[$1]=$duration
  if [ "$code" -eq 0 ]; then
    statuses[$1]=SUCCESS
    say "[OK] Completed $title (duration: ${duration}s)"
  else
    statuses[$1]=FAILED
    say "[ERROR] Failed $title (exit code: $code, duration: ${duration}s)"
  fi
  return "$code"
}

script=$(readlink -f -- "$0")
mkdir -p -- "$sweep_dir" || exit 1
cd -- "$work_dir" || exit 1

if [ "${1:-}" = --summary ]; then
  from_records=yes
  write_summary
  exit 0
fi
if [ "$scheduler" = slurm ] && [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
  # Arguments go to sbatch: --partition=NAME, --gres=gpu:8, --time=2:00:00 ...
  output=${sweep_dir//%/%%}
  job=$(sbatch --parsable --output="$output/slurm_%a.log" "$@" "$script") || exit 1
  sbatch --parsable --dependency="afterany:${job%%;*}" --array=0 --output="$output/slurm_summary.log" \
    "$@" "$script" --summary
  exit
fi

trap on_signal INT TERM HUP
if [ "$scheduler" = slurm ]; then
  log_file=$sweep_dir/nccl_thread_sweep_${SLURM_ARRAY_JOB_ID:-$stamp}_$SLURM_ARRAY_TASK_ID.log
  run_number "$SLURM_ARRAY_TASK_ID"
  exit
fi
say "=== NCCL Channel & Thread Sweep: $runs runs ==="
failed=0
for ((number = 0; number < runs; number++)); do
  run_number "$number" || failed=$((failed + 1))
  [ "${statuses[number]:-}" = SKIPPED ] || [ "$((number + 1))" -eq "$runs" ] || sleep "$pause_s"
done
write_summary
say "All runs completed, $failed failed"
[ "$failed" -eq 0 ]
