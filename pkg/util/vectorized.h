#pragma once

// Marks a plain loop over arrays that is worth further copies for wider vector registers, chosen at
// run time. The arithmetic is the same in all copies (no fused or reordered operations), so the
// results are equal to the last bit; only the flags of floating exceptions, which nobody reads, may
// differ (else conditions could not become selections). Other functions are not inlined into the
// copies: only built-ins may be called. Without effect under sanitizers and compilers other than
// gcc.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HEKLA_VECTORIZED                                      \
  __attribute__((target_clones("avx512f", "avx2", "default"), \
                 optimize("O3", "fp-contract=off", "no-trapping-math")))
#else
#define HEKLA_VECTORIZED
#endif
