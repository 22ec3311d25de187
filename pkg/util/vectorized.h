#pragma once

// Marks a plain loop over arrays that is worth a second copy for wider vector registers, chosen at
// run time. The arithmetic is the same in both copies (no fused or reordered operations), so the
// results are equal to the last bit. Without effect under sanitizers and compilers other than gcc.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HEKLA_VECTORIZED __attribute__((target_clones("avx2", "default"), optimize("O3")))
#else
#define HEKLA_VECTORIZED
#endif
