#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sh command.sh FILE: prints the command that compiles an example.  It is in the
# first comment of the file: indented, and it asks pkg-config.
exec awk '
/^#/ {
	exit
}
{
	sub(/^ \*|^\/\//, "")
}
/^     / {
	command = command substr($0, 6) "\n"
	next
}
command ~ /pkg-config/ {
	exit
}
{
	command = ""
}
END {
	if (command ~ /pkg-config/)
		printf "%s", command
}' "$1"
