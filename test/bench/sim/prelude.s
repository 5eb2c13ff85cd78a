# SPDX-License-Identifier: MIT
#
# Assembled before each source under test: what the thread sanitizer does not
# see becomes a call too.  A macro takes the place of the instruction.

	.macro pause
	call cohsim_pause_asm
	.endm
	.macro rep insn:vararg
	.ifb \insn
	call cohsim_pause_asm	# "rep; nop": the nop follows, and is harmless
	.else
	.ifc "\insn","nop"
	call cohsim_pause_asm
	.else
	.byte 0xf3
	\insn
	.endif
	.endif
	.endm
	.macro rdtsc
	call cohsim_rdtsc_asm
	.endm
	.macro rdtscp
	call cohsim_rdtscp_asm
	.endm

# Moves of blocks.
	.set memcpy, cohsim_memcpy
	.set memmove, cohsim_memmove
	.set memset, cohsim_memset

	.macro prefetchw op:vararg
	push %rdi
	lea \op, %rdi
	call cohsim_pfw_asm
	pop %rdi
	.endm
	.macro prefetcht0 op:vararg
	push %rdi
	lea \op, %rdi
	call cohsim_pfr_asm
	pop %rdi
	.endm
