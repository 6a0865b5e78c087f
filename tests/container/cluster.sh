#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# One connection to a cluster's API with one pod, as busybox nc starts it: the request is appended to $CLUSTER/requests,
# the pod's annotations are in $CLUSTER/annotations. $CLUSTER/answer replaces the answer.
read -r method path _
length=0 type=''
while read -r name value && [[ ${name%$'\r'} ]]; do
	value=${value%$'\r'}
	case ${name,,} in
	content-length:) length=$value ;;
	content-type:) type=$value ;;
	authorization:) who=$value ;;
	esac
done
body=$(head -c "$length")
printf '%s\t%s\t%s\t%s\t%s\n' "$method" "$path" "$type" "${who-}" "$body" >>"$CLUSTER/requests"
status='200 OK'
case $method in
PATCH) jq -c '.metadata.annotations' <<<"$body" >"$CLUSTER/annotations" ;;
POST) status='201 Created' ;;
esac
answer=$(jq -c '{kind: "Pod", metadata: {annotations: .}}' "$CLUSTER/annotations")
if [[ -s $CLUSTER/answer ]]; then
	cat "$CLUSTER/answer"
else
	printf 'HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %s\r\nConnection: close\r\n\r\n%s' "$status" "${#answer}" "$answer"
fi
