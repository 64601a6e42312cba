# What `./test` does in parts, and what takes longer. PYTHON: an interpreter with the project's test dependencies.
PYTHON ?= $(firstword $(wildcard .venv-test/bin/python .venv/bin/python) python3)
FUZZ_SECONDS ?= 60

.PHONY: test fuzz fuzz-files fuzz-guided fuzz-kernels fuzz-llvmdi fuzz-readers fuzz-recordings fuzz-session truth bench lint

test:
	./test

lint:
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy

# Bounded in time; prints how to replay an input that fails.
fuzz:
	$(PYTHON) benchmarks/fuzz_dwarf.py --seconds $(FUZZ_SECONDS)

# Hostile files, numbered: `benchmarks/fuzz_files.py --replay NUMBER` repeats one.
FUZZ_FIRST ?= 0
fuzz-files:
	$(PYTHON) benchmarks/fuzz_files.py --seconds $(FUZZ_SECONDS) --first $(FUZZ_FIRST)

# Hostile recordings, changed in their decoded form and as bytes: FUZZ_SECONDS is hours for a million.
fuzz-recordings:
	$(PYTHON) benchmarks/fuzz_recordings.py --seconds $(FUZZ_SECONDS) --first $(FUZZ_FIRST)

# Split debug information, placements, files for `restore`, requests of programs.
fuzz-readers:
	$(PYTHON) benchmarks/fuzz_readers.py --seconds $(FUZZ_SECONDS) --first $(FUZZ_FIRST)

# Random and mutated code, run straight, in single steps and optimised: they have to agree.
fuzz-kernels:
	$(PYTHON) benchmarks/fuzz_kernels.py --seconds $(FUZZ_SECONDS) --first $(FUZZ_FIRST)

# Hostile LLVM assembly, numbered: `benchmarks/fuzz_llvmdi.py --replay NUMBER` shows and repeats one.
fuzz-llvmdi:
	$(PYTHON) benchmarks/fuzz_llvmdi.py --seconds $(FUZZ_SECONDS) --first $(FUZZ_FIRST)

# Random command lines and signals in every state; prints how to replay a session that fails.
fuzz-session:
	$(PYTHON) benchmarks/fuzz_session.py --seconds $(FUZZ_SECONDS) --first $(FUZZ_FIRST)

# Guided by coverage; needs atheris (pip install atheris).
fuzz-guided:
	for target in evaluate explain frames lists decode normalise; do \
	  $(PYTHON) benchmarks/fuzz_guided.py --seconds $(FUZZ_SECONDS) $$target || exit 1; done

# Every demo kernel back and forth: 200 random positions each, compared bit for bit with fresh runs.
truth:
	$(PYTHON) benchmarks/truth.py

bench:
	$(PYTHON) benchmarks/dwarf_speed.py
	$(PYTHON) benchmarks/startup.py
	$(PYTHON) benchmarks/deep_stack.py
