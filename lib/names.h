/* SPDX-License-Identifier: MIT */
/*
 * The names that the parts share, with a prefix for the linker: in the static
 * library they stand beside the names of the user's program.
 */
#ifndef TT_NAMES_H
#define TT_NAMES_H

#define backlog_add            tt_backlog_add
#define backlog_check          tt_backlog_check
#define backlog_destroy        tt_backlog_destroy
#define backlog_take           tt_backlog_take
#define block_alloc            tt_block_alloc
#define block_free_all         tt_block_free_all
#define bucket_check           tt_bucket_check
#define bucket_collect         tt_bucket_collect
#define bucket_destroy         tt_bucket_destroy
#define bucket_give_back       tt_bucket_give_back
#define bucket_init            tt_bucket_init
#define bucket_open            tt_bucket_open
#define bucket_schedule        tt_bucket_schedule
#define bucket_shut            tt_bucket_shut
#define clock_add              tt_clock_add
#define clock_now              tt_clock_now
#define driver_thread_is_self  tt_driver_thread_is_self
#define driver_thread_start    tt_driver_thread_start
#define engine_destroy         tt_engine_destroy
#define engine_init            tt_engine_init
#define engine_run             tt_engine_run
#define futex_probe            tt_futex_probe
#define futex_wait_for         tt_futex_wait_for
#define futex_wait_until       tt_futex_wait_until
#define futex_wake_one         tt_futex_wake_one
#define heap_check             tt_heap_check
#define heap_destroy           tt_heap_destroy
#define heap_init              tt_heap_init
#define heap_push              tt_heap_push
#define heap_remove            tt_heap_remove
#define heap_reserve           tt_heap_reserve
#define instance_free          tt_instance_free
#define instance_init          tt_instance_init
#define intake_create          tt_intake_create
#define intake_default_buckets tt_intake_default_buckets
#define intake_destroy         tt_intake_destroy
#define intake_give_back       tt_intake_give_back
#define intake_open            tt_intake_open
#define intake_return          tt_intake_return
#define intake_shut            tt_intake_shut
#define lock_acquire_slow      tt_lock_acquire_slow
#define lock_wake              tt_lock_wake
#define pending_add            tt_pending_add
#define pending_check          tt_pending_check
#define pending_destroy        tt_pending_destroy
#define pending_init           tt_pending_init
#define pending_next           tt_pending_next
#define pending_sort           tt_pending_sort
#define pending_sweep          tt_pending_sweep
#define pending_take           tt_pending_take
#define pending_trim           tt_pending_trim
#define queue_check            tt_queue_check
#define queue_destroy          tt_queue_destroy
#define queue_extend           tt_queue_extend
#define queue_init             tt_queue_init
#define queue_next_block       tt_queue_next_block
#define queue_size             tt_queue_size
#define queue_take             tt_queue_take
#define slot_cancel            tt_slot_cancel
#define slots_add_chunk        tt_slots_add_chunk
#define slots_check            tt_slots_check
#define slots_chunk_alloc      tt_slots_chunk_alloc
#define slots_destroy          tt_slots_destroy
#define slots_init             tt_slots_init
#define slots_next_chunk       tt_slots_next_chunk
#define wakeup_announce        tt_wakeup_announce
#define wakeup_arrivals        tt_wakeup_arrivals
#define wakeup_collect         tt_wakeup_collect
#define wakeup_init            tt_wakeup_init
#define wakeup_kick            tt_wakeup_kick
#define wakeup_sleep           tt_wakeup_sleep
#define wakeup_stop            tt_wakeup_stop

#endif
