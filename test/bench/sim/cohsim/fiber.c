/* SPDX-License-Identifier: MIT */
/*
 * Changes the stack and %fs, and so who runs.
 */
#include "fiber.h"
#include "host.h"

#include <sys/auxv.h>
#include <sys/syscall.h>

void cohsim_swap_fsgs(void **save, void *to, uintptr_t fs),
	cohsim_swap_sys(void **save, void *to, uintptr_t fs);
#define SWAP(name, setfs)                                                      \
	".text\n.globl " name "\n" name ":\n"                                  \
	"push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"   \
	"mov %rsp,(%rdi); mov %rsi,%rsp\n" setfs                               \
	"\npop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp; ret\n"
__asm__(SWAP("cohsim_swap_fsgs", "wrfsbase %rdx"));
__asm__(SWAP("cohsim_swap_sys",
	     "mov $158,%eax; mov $0x1002,%edi; mov %rdx,%rsi; syscall"));
void (*swap)(void **, void *, uintptr_t);

void fiber_begin(void)
{
	swap = getauxval(AT_HWCAP2) & 2 ? cohsim_swap_fsgs : cohsim_swap_sys;
}

uintptr_t get_fs(void)
{
	uintptr_t v;
	raw(SYS_arch_prctl, 0x1003, (long)&v, 0, 0, 0, 0);
	return v;
}
