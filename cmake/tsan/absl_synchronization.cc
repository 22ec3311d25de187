// Builds under the thread sanitizer only. The packaged abseil is not instrumented, so the sanitizer
// cannot see that its locks order anything. Calls of our own code to them are wrapped (the linker's
// --wrap, see HeklaTargets.cmake) and tell it. Conditions are evaluated inside abseil, sometimes by
// the thread that unlocks: under the lock, which is why their reads are not looked at.

#include <cstdint>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

extern "C" {

void __tsan_acquire(void* address);
void __tsan_release(void* address);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);

// HEKLA_...(result, mangled name, (parameters), (arguments)): `self` is the object.
#define HEKLA_ACQUIRE(result, name, parameters, arguments) \
  result __real_##name parameters;                         \
  result __wrap_##name parameters {                        \
    struct Acquire {                                       \
      const void* address;                                 \
      ~Acquire() {                                         \
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);        \
        __tsan_acquire(const_cast<void*>(address));        \
      }                                                    \
    } acquire{self};                                       \
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);          \
    return __real_##name arguments;                        \
  }

#define HEKLA_RELEASE(result, name, parameters, arguments)   \
  result __real_##name parameters;                           \
  result __wrap_##name parameters {                          \
    __tsan_release(self);                                    \
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);            \
    struct End {                                             \
      ~End() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); } \
    } end;                                                   \
    return __real_##name arguments;                          \
  }

// The mutex is given up and taken again in between.
#define HEKLA_WAIT(result, name, parameters, arguments, mutex) \
  result __real_##name parameters;                             \
  result __wrap_##name parameters {                            \
    __tsan_release(mutex);                                     \
    struct Acquire {                                           \
      void* address;                                           \
      ~Acquire() {                                             \
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);            \
        __tsan_acquire(address);                               \
      }                                                        \
    } acquire{mutex};                                          \
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);              \
    return __real_##name arguments;                            \
  }

using absl::BlockingCounter;
using absl::Condition;
using absl::CondVar;
using absl::Duration;
using absl::Mutex;
using absl::Notification;
using absl::Time;

HEKLA_ACQUIRE(void, _ZN4absl7debian35Mutex4LockEv, (Mutex * self), (self))
HEKLA_ACQUIRE(void, _ZN4absl7debian35Mutex10ReaderLockEv, (Mutex * self), (self))
HEKLA_ACQUIRE(bool, _ZN4absl7debian35Mutex7TryLockEv, (Mutex * self), (self))
HEKLA_ACQUIRE(bool, _ZN4absl7debian35Mutex13ReaderTryLockEv, (Mutex * self), (self))
HEKLA_ACQUIRE(void, _ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE,
              (Mutex * self, const Condition& c), (self, c))
HEKLA_ACQUIRE(void, _ZN4absl7debian35Mutex14ReaderLockWhenERKNS0_9ConditionE,
              (Mutex * self, const Condition& c), (self, c))
HEKLA_ACQUIRE(bool, _ZN4absl7debian35Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE,
              (Mutex * self, const Condition& c, Duration d), (self, c, d))
HEKLA_ACQUIRE(bool, _ZN4absl7debian35Mutex20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE,
              (Mutex * self, const Condition& c, Time t), (self, c, t))
HEKLA_RELEASE(void, _ZN4absl7debian35Mutex6UnlockEv, (Mutex * self), (self))
HEKLA_RELEASE(void, _ZN4absl7debian35Mutex12ReaderUnlockEv, (Mutex * self), (self))
HEKLA_WAIT(void, _ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE, (Mutex * self, const Condition& c),
           (self, c), self)
HEKLA_WAIT(bool, _ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE,
           (Mutex * self, const Condition& c, Duration d), (self, c, d), self)
HEKLA_WAIT(bool, _ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE,
           (Mutex * self, const Condition& c, Time t), (self, c, t), self)
HEKLA_WAIT(void, _ZN4absl7debian37CondVar4WaitEPNS0_5MutexE, (CondVar * self, Mutex* mutex),
           (self, mutex), mutex)
HEKLA_WAIT(bool, _ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE,
           (CondVar * self, Mutex* mutex, Duration d), (self, mutex, d), mutex)
HEKLA_WAIT(bool, _ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE,
           (CondVar * self, Mutex* mutex, Time t), (self, mutex, t), mutex)

HEKLA_RELEASE(void, _ZN4absl7debian312Notification6NotifyEv, (Notification * self), (self))
HEKLA_ACQUIRE(void, _ZNK4absl7debian312Notification19WaitForNotificationEv,
              (const Notification* self), (self))
HEKLA_ACQUIRE(bool, _ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE,
              (const Notification* self, Duration d), (self, d))
HEKLA_ACQUIRE(bool, _ZNK4absl7debian312Notification31WaitForNotificationWithDeadlineENS0_4TimeE,
              (const Notification* self, Time t), (self, t))
HEKLA_RELEASE(bool, _ZN4absl7debian315BlockingCounter14DecrementCountEv, (BlockingCounter * self),
              (self))
HEKLA_ACQUIRE(void, _ZN4absl7debian315BlockingCounter4WaitEv, (BlockingCounter * self), (self))

// A Status may lose its last reference inside abseil: whoever drops one before is ordered before.
#define HEKLA_UNREF(result, name)                 \
  result __real_##name(uintptr_t rep);            \
  result __wrap_##name(uintptr_t rep) {           \
    void* address = reinterpret_cast<void*>(rep); \
    __tsan_release(address);                      \
    __tsan_acquire(address);                      \
    __real_##name(rep);                           \
  }
HEKLA_UNREF(void, _ZN4absl7debian36Status15UnrefNonInlinedEm)

}  // extern "C"
