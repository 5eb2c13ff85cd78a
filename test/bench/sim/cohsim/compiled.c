/* SPDX-License-Identifier: MIT */
/*
 * What compiled code calls: the accesses that gcc 12 makes calls of with
 * -fsanitize=thread, and what prelude.s puts in.
 */
#include "cache.h"
#include "host.h"
#include "sched.h"

#include <string.h>

void __tsan_init(void)
{
}

void __tsan_func_entry(void *ra)
{
	(void)ra;
	struct thr *t = self;
	if (t) {
		t->stk[t->depth++ & 63] = PC;
		cc->clk += N_func;
	}
}

void __tsan_func_exit(void)
{
	struct thr *t = self;
	if (t)
		t->depth--;
}

#define PLAIN(n)                                                               \
	void __tsan_read##n(void *p)                                           \
	{                                                                      \
		acc((uintptr_t)p, n, RD, true, PC);                            \
	}                                                                      \
	void __tsan_write##n(void *p)                                          \
	{                                                                      \
		acc((uintptr_t)p, n, WR, true, PC);                            \
	}                                                                      \
	void __tsan_unaligned_read##n(void *p)                                 \
	{                                                                      \
		acc((uintptr_t)p, n, RD, true, PC);                            \
	}                                                                      \
	void __tsan_unaligned_write##n(void *p)                                \
	{                                                                      \
		acc((uintptr_t)p, n, WR, true, PC);                            \
	}                                                                      \
	void __tsan_volatile_read##n(void *p)                                  \
	{                                                                      \
		acc((uintptr_t)p, n, RD, false, PC);                           \
	}                                                                      \
	void __tsan_volatile_write##n(void *p)                                 \
	{                                                                      \
		acc((uintptr_t)p, n, WR, false, PC);                           \
	}
PLAIN(1);
PLAIN(2);
PLAIN(4);
PLAIN(8);
PLAIN(16);

void __tsan_read_range(void *p, long n)
{
	acc((uintptr_t)p, n, RD, true, PC);
}

void __tsan_write_range(void *p, long n)
{
	acc((uintptr_t)p, n, WR, true, PC);
}

void __tsan_vptr_update(void *p, void *v)
{
	(void)v;
	acc((uintptr_t)p, 8, WR, true, PC);
}

void __tsan_vptr_read(void *p)
{
	acc((uintptr_t)p, 8, RD, true, PC);
}

/* Where the core sees p: memory, or what was there before a buffered store. */
static void *view(volatile void *p)
{
	uint64_t ln = (uintptr_t)p >> 6;
	struct lstat *s;
	if (self && (s = page_get(ln)->l[ln & 63].st) &&
	    s->pend.addr == (uintptr_t)p && s->pend.vis > cc->clk &&
	    s->pend.core != cc->id)
		return &s->pend.old;
	return (void *)p;
}

/* Called between the access and the store itself. */
static void buffered(volatile void *p, size_t n)
{
	uint64_t ln = (uintptr_t)p >> 6;
	struct lstat *s;
	if (!self || cc->sb <= cc->clk || !(s = page_get(ln)->l[ln & 63].st))
		return;
	s->pend.addr = (uintptr_t)p;
	s->pend.vis = cc->sb;
	s->pend.core = cc->id;
	memcpy(&s->pend.old, (void *)p, n);
}

/* Only the runner executes code under test: plain operations are atomic. */
#define ATOMIC(T, n)                                                           \
	T __tsan_atomic##n##_load(const volatile T *p, int mo)                 \
	{                                                                      \
		(void)mo;                                                      \
		acc((uintptr_t)p, n / 8, RD, false, PC);                       \
		return *(T *)view((volatile void *)p);                         \
	}                                                                      \
	void __tsan_atomic##n##_store(volatile T *p, T v, int mo)              \
	{                                                                      \
		if (mo == __ATOMIC_SEQ_CST)                                    \
			acc((uintptr_t)p, n / 8, RMW, false, PC);              \
		else {                                                         \
			acc((uintptr_t)p, n / 8, WR, false, PC);               \
			buffered(p, n / 8);                                    \
		}                                                              \
		*p = v;                                                        \
	}                                                                      \
	int __tsan_atomic##n##_compare_exchange_strong(volatile T *p, T *e,    \
						       T v, int mo, int fo)    \
	{                                                                      \
		(void)mo;                                                      \
		(void)fo;                                                      \
		acc((uintptr_t)p, n / 8, RMW, false, PC);                      \
		T *m = view(p), o = *m;                                        \
		if (o == *e) {                                                 \
			*m = v;                                                \
			return 1;                                              \
		}                                                              \
		*e = o;                                                        \
		return 0;                                                      \
	}                                                                      \
	int __tsan_atomic##n##_compare_exchange_weak(volatile T *p, T *e, T v, \
						     int mo, int fo)           \
	{                                                                      \
		(void)mo;                                                      \
		(void)fo;                                                      \
		acc((uintptr_t)p, n / 8, RMW, false, PC);                      \
		T *m = view(p), o = *m;                                        \
		if (o == *e) {                                                 \
			*m = v;                                                \
			return 1;                                              \
		}                                                              \
		*e = o;                                                        \
		return 0;                                                      \
	}                                                                      \
	T __tsan_atomic##n##_compare_exchange_val(volatile T *p, T e, T v,     \
						  int mo, int fo)              \
	{                                                                      \
		(void)mo;                                                      \
		(void)fo;                                                      \
		acc((uintptr_t)p, n / 8, RMW, false, PC);                      \
		T *m = view(p), o = *m;                                        \
		if (o == e)                                                    \
			*m = v;                                                \
		return o;                                                      \
	}                                                                      \
	FETCH(T, n, exchange, v);                                              \
	FETCH(T, n, fetch_add, o + v);                                         \
	FETCH(T, n, fetch_sub, o - v);                                         \
	FETCH(T, n, fetch_and, (o) & (v));                                     \
	FETCH(T, n, fetch_or, o | v);                                          \
	FETCH(T, n, fetch_xor, o ^ v);                                         \
	FETCH(T, n, fetch_nand, ~(o & v))
#define FETCH(T, n, op, ex)                                                    \
	T __tsan_atomic##n##_##op(volatile T *p, T v, int mo)                  \
	{                                                                      \
		(void)mo;                                                      \
		acc((uintptr_t)p, n / 8, RMW, false, PC);                      \
		T *m = view(p), o = *m;                                        \
		*m = (T)(ex);                                                  \
		return o;                                                      \
	}
ATOMIC(uint8_t, 8);
ATOMIC(uint16_t, 16);
ATOMIC(uint32_t, 32);
ATOMIC(uint64_t, 64);
ATOMIC(unsigned __int128, 128);

void __tsan_atomic_thread_fence(int mo)
{
	if (!self || mo != __ATOMIC_SEQ_CST)
		return;
	sync_();
	G.fences++;
	if (cc->clk < cc->sb)
		cc->clk = cc->sb;
	charge(P_fence);
}

void __tsan_atomic_signal_fence(int mo)
{
	(void)mo;
}

/* What prelude.s calls. */
void *cohsim_memcpy(void *d, const void *s, size_t n)
{
	acc((uintptr_t)s, n, RD, true, PC);
	acc((uintptr_t)d, n, WR, true, PC);
	return memcpy(d, s, n);
}

void *cohsim_memmove(void *d, const void *s, size_t n)
{
	acc((uintptr_t)s, n, RD, true, PC);
	acc((uintptr_t)d, n, WR, true, PC);
	return memmove(d, s, n);
}

void *cohsim_memset(void *d, int v, size_t n)
{
	acc((uintptr_t)d, n, WR, true, PC);
	return memset(d, v, n);
}

__attribute__((used)) static void pause_c(void)
{
	if (self) {
		charge(P_pause);
		sync_();
	}
}

__attribute__((used)) static uint64_t rdtsc_c(void)
{
	if (!self)
		return __builtin_ia32_rdtsc();
	sync_();
	charge(8);
	return cc->clk / 1000 * P_tsc_ghz;
}

__attribute__((used)) static uint64_t cpu_c(void)
{
	return self ? cc->id % ncore : 0;
}

__attribute__((used)) static void prefetch_c(uintptr_t a, int kind)
{
	if (!self || !P_swpf)
		return;
	int busy = 0;
	if (cc->pqmax > cc->clk)
		for (int i = 0; i < 16; i++)
			busy += cc->pq[i].done > cc->clk;
	cc->clk += N_l1;
	if (busy >= 15)
		return;
	if (cc->clk > next_time)
		resched();
	mem_ahead(a, kind, PC);
}

#define SAVE                                                                   \
	"pushfq; push %rbp; push %rbx; push %rax; push %rcx; push %rdx; push " \
	"%rsi; push %rdi; push %r8; push %r9; push %r10; push %r11\n"          \
	"mov %rsp,%rbp; and $-64,%rsp; sub $512,%rsp; fxsave64 (%rsp); cld\n"
#define REST                                                                   \
	"fxrstor64 (%rsp); mov %rbp,%rsp\n pop %r11; pop %r10; pop %r9; pop "  \
	"%r8; pop %rdi; pop %rsi; pop %rdx; pop %rcx; pop %rax; pop %rbx; "    \
	"pop %rbp; popfq; ret\n"
__asm__(".globl cohsim_pause_asm, cohsim_rdtsc_asm, cohsim_rdtscp_asm\n"
	"cohsim_pause_asm:\n" SAVE "call pause_c\n" REST
	".globl cohsim_pfw_asm, cohsim_pfr_asm\n"
	"cohsim_pfw_asm:\n" SAVE "mov $1,%esi; call prefetch_c\n" REST
	"cohsim_pfr_asm:\n" SAVE "mov $0,%esi; call prefetch_c\n" REST
	"cohsim_rdtscp_asm:\n" SAVE
	"call cpu_c; mov %rax,56(%rbp); call rdtsc_c; jmp 1f\n"
	"cohsim_rdtsc_asm:\n" SAVE "call rdtsc_c\n"
	"1: mov %eax,%ecx; shr $32,%rax; mov %rax,48(%rbp); mov "
	"%rcx,64(%rbp)\n" REST);
