// SPDX-License-Identifier: MIT
//
// What the simulator does in place of the C library: each of these must hold in
// it, and does without it.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/futex.h>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <set>
#include <string>
#include <sys/syscall.h>
#include <sys/time.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

static int bad;
#define CHECK(c)                                                               \
	do {                                                                   \
		if (!(c)) {                                                    \
			printf("FAIL %s:%d %s\n", __FILE__, __LINE__, #c);     \
			bad++;                                                 \
		}                                                              \
	} while (0)

static int64_t now(clockid_t id = CLOCK_MONOTONIC)
{
	timespec t;
	clock_gettime(id, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static std::atomic<int> dtors;
struct D {
	int v = 7;
	~D()
	{
		dtors++;
	}
};

static thread_local D tl;
static __thread int plain;
static pthread_key_t key;
static int keyed;

static void keydtor(void *p)
{
	keyed += *(int *)p;
	delete (int *)p;
}

static void threads()
{
	std::set<pthread_t> ids;
	std::mutex m;
	std::vector<std::thread> t;
	pthread_key_create(&key, keydtor);
	for (int i = 0; i < 8; i++)
		t.emplace_back([&, i] {
			CHECK(plain == 0 && tl.v == 7 && errno == 0);
			plain = i + 1;
			tl.v = i;
			errno = i;
			pthread_setspecific(key, new int(i));
			usleep(100);
			CHECK(plain == i + 1 && tl.v == i &&
			      *(int *)pthread_getspecific(key) == i);
			std::lock_guard<std::mutex> g(m);
			ids.insert(pthread_self());
		});
	for (auto &x : t)
		x.join();
	CHECK(ids.size() == 8 && dtors == 8 && keyed == 28);
	try {
		std::thread([] {
			try {
				throw 5;
			} catch (int e) {
				CHECK(e == 5);
			}
		}).join();
	} catch (...) {
		CHECK(0);
	}
}

static void locks()
{
	long n = 0;
	std::mutex m;
	std::vector<std::thread> t;
	pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
	long w = 0;
	pthread_spinlock_t s;
	long k = 0;
	pthread_spin_init(&s, 0);
	pthread_mutex_t rec, ad = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
	long a = 0;
	pthread_mutexattr_t at;
	pthread_mutexattr_init(&at);
	pthread_mutexattr_settype(&at, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&rec, &at);
	long r = 0;
	sem_t sem;
	sem_init(&sem, 0, 1);
	long q = 0;
	pthread_barrier_t b;
	pthread_barrier_init(&b, nullptr, 6);
	std::atomic<int> serial{0};
	for (int i = 0; i < 6; i++)
		t.emplace_back([&] {
			for (int j = 0; j < 500; j++) {
				{
					std::lock_guard<std::mutex> g(m);
					n++;
				}
				pthread_rwlock_wrlock(&rw);
				w++;
				pthread_rwlock_unlock(&rw);
				pthread_rwlock_rdlock(&rw);
				pthread_rwlock_unlock(&rw);
				pthread_spin_lock(&s);
				k++;
				pthread_spin_unlock(&s);
				pthread_mutex_lock(&ad);
				a++;
				pthread_mutex_unlock(&ad);
				pthread_mutex_lock(&rec);
				pthread_mutex_lock(&rec);
				r++;
				pthread_mutex_unlock(&rec);
				pthread_mutex_unlock(&rec);
				sem_wait(&sem);
				q++;
				sem_post(&sem);
			}
			serial += pthread_barrier_wait(&b) ==
				  PTHREAD_BARRIER_SERIAL_THREAD;
		});
	for (auto &x : t)
		x.join();
	CHECK(n == 3000 && w == 3000 && k == 3000 && a == 3000 && r == 3000 &&
	      q == 3000 && serial == 1);
	CHECK(pthread_mutex_trylock(&ad) == 0 &&
	      pthread_mutex_trylock(&ad) == EBUSY);
	timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += 2000000;
	if (ts.tv_nsec > 999999999) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	int64_t t0 = now();
	CHECK(pthread_mutex_timedlock(&ad, &ts) == ETIMEDOUT);
	CHECK(now() - t0 > 1900000);
	pthread_once_t o = PTHREAD_ONCE_INIT;
	static int once;
	auto f = [] {
		usleep(50);
		once++;
	};
	std::thread x([&] {
		pthread_once(&o, f);
		CHECK(once == 1);
	});
	pthread_once(&o, f);
	CHECK(once == 1);
	x.join();
}

static void timing()
{
	int64_t t0 = now();
	usleep(3000);
	int64_t d = now() - t0;
	CHECK(d >= 3000000 && d < 200000000);
	std::mutex m;
	std::condition_variable cv;
	std::unique_lock<std::mutex> l(m);
	bool go = false;
	CHECK(cv.wait_for(l, std::chrono::milliseconds(2)) ==
	      std::cv_status::timeout);
	std::thread t([&] {
		usleep(1000);
		std::lock_guard<std::mutex> g(m);
		go = true;
		cv.notify_one();
	});
	CHECK(cv.wait_for(l, std::chrono::seconds(5), [&] { return go; }));
	l.unlock();
	t.join();
	int f = 1;
	timespec rel = {0, 2000000}, abs;
	t0 = now();
	CHECK(syscall(SYS_futex, &f, FUTEX_WAIT_PRIVATE, 1, &rel, nullptr, 0) ==
		      -1 &&
	      errno == ETIMEDOUT);
	CHECK(now() - t0 >= 2000000);
	CHECK(syscall(SYS_futex, &f, FUTEX_WAIT_PRIVATE, 2, nullptr, nullptr,
		      0) == -1 &&
	      errno == EAGAIN);
	int64_t e = now() + 2000000;
	abs = {e / 1000000000, e % 1000000000};
	CHECK(syscall(SYS_futex, &f, FUTEX_WAIT_BITSET_PRIVATE, 1, &abs,
		      nullptr, ~0u) == -1 &&
	      errno == ETIMEDOUT);
	CHECK(now() >= e);
	std::thread u([&] {
		usleep(500);
		__atomic_store_n(&f, 0, __ATOMIC_SEQ_CST);
		CHECK(syscall(SYS_futex, &f, FUTEX_WAKE_PRIVATE, 1, nullptr,
			      nullptr, 0) == 1);
	});
	CHECK(syscall(SYS_futex, &f, FUTEX_WAIT_PRIVATE, 1, nullptr, nullptr,
		      0) == 0);
	u.join();
	timeval tv;
	gettimeofday(&tv, nullptr);
	int64_t r = now(CLOCK_REALTIME);
	CHECK(llabs(r / 1000 - (tv.tv_sec * 1000000LL + tv.tv_usec)) < 1000000);
	void *ret = nullptr;
	pthread_t p;
	pthread_create(
		&p, nullptr, [](void *a) -> void * { return (char *)a + 1; },
		(void *)41);
	pthread_join(p, &ret);
	CHECK(ret == (void *)42);
	CHECK(sysconf(_SC_NPROCESSORS_ONLN) >= 1 && sched_getcpu() >= 0);
	std::string s(300, 'x'), c = s;
	CHECK(c == s); // moves of blocks
	unsigned __int128 big = 1;
	CHECK(__sync_bool_compare_and_swap(&big, 1,
					   (unsigned __int128)5 << 64) &&
	      big == (unsigned __int128)5 << 64);
	uint64_t c0 = __builtin_ia32_rdtsc();
	usleep(10);
	CHECK(__builtin_ia32_rdtsc() > c0);
	__builtin_ia32_pause();
}

int main()
{
	threads();
	locks();
	timing();
	printf("selftest: %s\n", bad ? "FAILED" : "ok");
	return bad != 0;
}
