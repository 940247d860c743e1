#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# instr.sh N1 N2 CMD ARG... - user instructions per I/O of a command, by callgrind.
# {N} in an argument is replaced by the number of I/Os; the difference of the two
# runs cancels start-up. The vDSO is not counted: add about 68 a clock_gettime call.
set -eu
n1=$1 n2=$2
shift 2
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
count() {
	n=$1
	shift
	for a; do
		shift
		set -- "$@" "$(printf %s "$a" | sed "s/{N}/$n/g")"
	done
	rm -f "$d"/cg.*
	valgrind --tool=callgrind --trace-children=yes --callgrind-out-file="$d/cg.%p" -q "$@" >"$d/out" 2>"$d/err" || {
		cat "$d/err" >&2
		exit 1
	}
	awk '/^summary:/ { t += $2 } END { printf "%d\n", t }' "$d"/cg.*
}
a=$(count "$n1" "$@")
b=$(count "$n2" "$@")
awk -v a="$a" -v b="$b" -v n=$((n2 - n1)) 'BEGIN { printf "%.1f\n", (b - a) / n }'
