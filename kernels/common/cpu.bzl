"""How code on vectors is compiled for the processors it is chosen for."""

# Products in registers: fused, unrolled, and without the library's errno.
FAST = [
    "-O3",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-trapping-math",
]

AVX2 = FAST + [
    "-mavx2",
    "-mfma",
]

AVX512 = FAST + [
    "-mavx512f",
    "-mfma",
]
