// Tells ThreadSanitizer of the slow paths of Swift's Mutex. They lie in a library that is built without it, so that a lock
// that had to be waited for would look like none at all. Preloaded by Tests/Sanitizers/run.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// Weak: other programs are started with this library, too.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

SWIFT void lock(uint32_t thread, SELF void *mutex) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT void unlock(SELF void *mutex) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
SWIFT bool try_lock(SELF void *mutex) __asm__("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");

SWIFT void lock(uint32_t thread, SELF void *mutex) {
  SWIFT void (*next)(uint32_t, SELF void *) = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
  next(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlock(SELF void *mutex) {
  SWIFT void (*next)(SELF void *) = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
  if (__tsan_release) __tsan_release(mutex);
  next(mutex);
}

SWIFT bool try_lock(SELF void *mutex) {
  SWIFT bool (*next)(SELF void *) = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
  bool locked = next(mutex);
  if (locked && __tsan_acquire) __tsan_acquire(mutex);
  return locked;
}
