#!/usr/bin/env bash
# A whole analysis in bash: analysis.sh [--http URL] TRACE [OUTPUT_DIR]
#   --http URL  asks a running server (jarvis serve --http) with curl; otherwise it starts one of
#               its own and speaks with it over a pair of pipes
# Needs bash and jq. JARVIS names the program, JARVIS_TOKEN the server's token. The tables go to
# OUTPUT_DIR (default: out/session).
set -euo pipefail

die() {
  echo "analysis.sh: $*" >&2
  exit 1
}
url=""
if [ "${1:-}" = --http ]; then
  url=${2:?--http needs a URL}
  shift 2
fi
[ $# -ge 1 ] && [ $# -le 2 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
trace=$(realpath -m "$1")
output=$(realpath -m "${2:-out/session}")
command -v jq >/dev/null || die "jq is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap '' PIPE  # a server that has gone is a failed write, which says so
last_id=0
session=()

# --- two ways to send a message; each leaves the answer to a request in $answer ---

# One message a line. (No $(...) around this: a subshell does not have the coprocess's pipes.)
send_by_pipe() {  # MESSAGE ID
  local line
  printf '%s\n' "$1" >&"${server[1]}" 2>/dev/null || die "the server has gone"
  [ -z "$2" ] && return
  while IFS= read -r line <&"${server[0]}"; do
    # Between request and answer there may be notifications.
    if jq -e --argjson id "$2" '.id == $id and has("method") == false' <<<"$line" >/dev/null; then
      answer=$line
      return
    fi
  done
  die "the server ended without an answer"
}

# A message a POST. The answer is JSON, or a stream of events whose last one is the answer.
send_by_http() {  # MESSAGE ID
  local status auth=()
  [ -n "${JARVIS_TOKEN:-}" ] && auth=(-H "Authorization: Bearer $JARVIS_TOKEN")
  status=$(curl -sS -o "$work/body" -D "$work/head" -w '%{http_code}' "${auth[@]}" \
    "${session[@]}" -H 'Content-Type: application/json' \
    -H 'Accept: application/json, text/event-stream' --data-binary "$1" "$url") ||
    die "no answer from $url"
  if [ "${#session[@]}" -eq 0 ]; then
    session=(-H 'MCP-Protocol-Version: 2025-11-25'
      -H "Mcp-Session-Id: $(sed -n 's/^mcp-session-id: *\([^\r]*\).*/\1/Ip' "$work/head")")
  fi
  case $status in
    200) ;;
    202) return ;;
    *) die "HTTP status $status: $(head -c 500 "$work/body")" ;;
  esac
  if grep -qi '^content-type: text/event-stream' "$work/head"; then
    answer=$(sed -n 's/^data: //p' "$work/body" | jq -c --argjson id "$2" 'select(.id == $id)')
  else
    answer=$(<"$work/body")
  fi
  [ -n "$answer" ] || die "the stream ended without an answer"
}

send() { if [ -n "$url" ]; then send_by_http "$@"; else send_by_pipe "$@"; fi; }

# --- MCP ---

notify() {  # METHOD
  send "$(jq -nc --arg method "$1" '{jsonrpc: "2.0", method: $method}')" ""
}

ask() {  # METHOD PARAMS: leaves the result in $result
  last_id=$((last_id + 1))
  send "$(jq -nc --arg method "$1" --argjson params "$2" --argjson id "$last_id" \
    '{jsonrpc: "2.0", id: $id, method: $method, params: $params}')" "$last_id"
  jq -e 'has("error") | not' <<<"$answer" >/dev/null ||
    die "$1: $(jq -r '.error.message' <<<"$answer")"
  result=$(jq -c '.result' <<<"$answer")
}

call() {  # TOOL ARGUMENTS: leaves the structured answer in $result
  ask tools/call "$(jq -nc --arg name "$1" --argjson arguments "$2" \
    '{name: $name, arguments: $arguments}')"
  jq -e '.isError != true' <<<"$result" >/dev/null ||
    die "$1: $(jq -r '.content[0].text' <<<"$result")"
  result=$(jq -c '.structuredContent' <<<"$result")
}

field() { jq -r "$1" <<<"$result"; }
say() { printf '%-7s %s\n' "$1" "$2"; }
# The rows as objects.
named_rows='.columns as $c | [.rows[] | [$c, .] | transpose | map({(.[0]): .[1]}) | add]'

# --- the analysis ---

if [ -z "$url" ]; then
  coproc server { exec "${JARVIS:-jarvis}" serve --profile full --allow-root / --output-root "$output"; }
fi
ask initialize '{"protocolVersion": "2025-11-25", "capabilities": {},
                 "clientInfo": {"name": "analysis.sh", "version": "1"}}'
say server "$(field '"\(.serverInfo.name) \(.serverInfo.version), protocol \(.protocolVersion)"')"
notify notifications/initialized

call load_trace "$(jq -nc --arg trace "$trace" '{trace: $trace}')"
id=$(field .trace)
say trace "$(field .summary)"
say gpu "$(field '"\(.device // "no name"), steps: \(.steps // "none"), remarks on quality: \(.total)"')"

call gpu_timeline "$(jq -nc --arg trace "$id" '{trace: $trace}')"
say time "$(field .summary)"

call ops_summary "$(jq -nc --arg trace "$id" '{trace: $trace, limit: 5}')"
say ops "$(field .summary)"
top=$(jq -c "$named_rows | .[0] // empty" <<<"$result")
[ -n "$top" ] || die "there is no GPU work in this trace"
say top "$(jq -r '"\(.op), \(.gpu_ms) ms in \(.count) calls"' <<<"$top")"
row=$(jq -c --arg trace "$id" '{trace: $trace, row: .row}' <<<"$top")

call parent_chain "$row"
say called "$(field .summary)"
say from "$(field "$named_rows | .[0] | \"\(.module // .ops) at \((.code // \"?\") | split(\" < \")[0])\"")"

if [ "$(jq -r .category <<<"$top")" = GEMM ]; then
  call gemm_roofline "$row"
  say roof "$(field .summary)"
else
  say roof "$(jq -r '"\(.percent_of_roof // "unknown") % of the roof"' <<<"$top")"
fi

call category_filter "$(jq -nc --arg trace "$id" --arg dir "$output" \
  '{trace: $trace, output_dir: $dir}')"
categories=$(field .shown)
call perf_report "$(jq -nc --arg trace "$id" --arg dir "$output/perf_report_csvs" \
  '{trace: $trace, output_dir: $dir}')"
say files "$categories categories and $(field '.files | length') tables in $output"

if [ -n "$url" ]; then
  curl -sS -o "$work/body" -X DELETE "${session[@]}" \
    ${JARVIS_TOKEN:+-H "Authorization: Bearer $JARVIS_TOKEN"} "$url"
else
  server_pid=$server_PID
  exec {server[1]}>&-  # the end of its input ends the server
  wait "$server_pid"
fi
