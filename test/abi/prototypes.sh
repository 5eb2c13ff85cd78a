# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What a header of ours declares; for the scripts that source this.

# statements HEADER: those of ours in it, one a line and with single spaces.
# The preprocessor takes comments out.
statements() {
	# shellcheck disable=SC2086 # a compiler may come with options
	$CC -E -P "$1" | tr '\n' ' ' | tr '{};' '[\n*]' |
		sed 's/[[:space:]][[:space:]]*/ /g; s/^ //; s/ $//' |
		grep timerthread_
}

# prototypes HEADER: the statements that are no typedef and have "name(".
prototypes() {
	statements "$1" | grep -v '^typedef' |
		grep 'timerthread_[A-Za-z0-9_]*('
}

# functions HEADER: the names of those that it declares, sorted.
functions() {
	prototypes "$1" | sed 's/(.*//; s/.*[ *]//' | sort
}
