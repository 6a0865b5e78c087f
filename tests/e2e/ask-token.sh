#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
#   ask-token.sh URL SECONDS [COUNT [PROMPT]]
#
# Asks the engine for COUNT tokens (default 1), with greedy sampling and without its prompt cache. Prints the
# HTTP status and the body. Exit status: 0 answered 200, 1 another status, 3 the connection broke or
# was refused, 4 no answer in time.

set -eu

[[ $# -ge 2 && $# -le 4 ]] || { echo "usage: ask-token.sh URL SECONDS [COUNT [PROMPT]]" >&2; exit 2; }
url=$1 seconds=$2 count=${3-1} prompt=${4-Hello}
# Only letters, digits, blanks and simple marks: the prompt then needs no quoting in JSON.
[[ $count =~ ^[0-9]+$ && $prompt =~ ^[A-Za-z0-9\ .,]*$ ]] ||
	{ echo "ask-token: a count, and a prompt of letters, digits, ' ', '.' and ','" >&2; exit 2; }

status=0
answer=$(curl -s -m "$seconds" -w '\n%{http_code}' -H 'Content-Type: application/json' \
	-d "{\"prompt\":\"$prompt\",\"n_predict\":$count,\"temperature\":0,\"cache_prompt\":false}" \
	"$url/completion") || status=$?
case $status in
0) ;;
28) echo "ask-token: no answer within $seconds s" >&2; exit 4 ;;
*) echo "ask-token: the connection failed (curl $status)" >&2; exit 3 ;;
esac
code=${answer##*$'\n'}
echo "$code ${answer%$'\n'*}"
[[ $code == 200 ]]
