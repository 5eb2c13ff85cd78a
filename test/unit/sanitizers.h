/* SPDX-License-Identifier: MIT */
/* Is this program built with a sanitizer, or with the one for threads? */
#pragma once

#if defined(__SANITIZE_THREAD__)
#define UNDER_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_THREAD_SANITIZER
#endif
#endif

#if defined(UNDER_THREAD_SANITIZER) || defined(__SANITIZE_ADDRESS__)
#define UNDER_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define UNDER_SANITIZER
#endif
#endif
