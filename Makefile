# What `./test` does in parts, and what takes longer. PYTHON: an interpreter with the project's test dependencies.
PYTHON ?= $(firstword $(wildcard .venv-test/bin/python .venv/bin/python) python3)
FUZZ_SECONDS ?= 60

.PHONY: test quick mutants coverage fuzz fuzz-files fuzz-guided fuzz-kernels \
    fuzz-llvmdi fuzz-readers fuzz-recordings fuzz-session truth bench lint damage

test:
	./test

quick:
	./test quick

# Every fault of tests/mutants/mutants.toml, one at a time; the test that each names has to fail.
mutants:
	$(PYTHON) -m tests.mutants.run

# Statements that tests execute, and a floor of 95 % for what the debugger rests on. Semantics are executed where code is
# translated, so nothing may be found in the translation cache; its own tests are left out. The plug-in for pytest imports
# the package before statements are counted.
coverage:
	$(PYTHON) -m pytest -n 2 --dist worksteal -p no:rocdbg --cov=rocdbg/dwarf --cov-report= \
	    tests/dwarf tests/damage tests/annotation tests/debugger tests/cli tests/llvmdi tests/demos
	$(PYTHON) -m coverage report --skip-covered --fail-under=95 --include='rocdbg/dwarf/*'
	ROCDBG_CACHE_SIZE=0 $(PYTHON) -m pytest -n 2 --dist worksteal -p no:rocdbg --cov=rocdbg/sim/semantics --cov-report= \
	    tests/sim tests/demos --ignore-glob='*cache*' --ignore=tests/sim/engine/test_kept_blocks.py
	$(PYTHON) -m coverage report --skip-covered --fail-under=95 --include='rocdbg/sim/semantics/*'

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

# Each attribute, list, table and frame of twenty objects damaged, one at a time: 15,000 sessions of 0.15 s each.
damage:
	$(PYTHON) -m tests.damage.explore

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
# And every test that ./test runs with some of its parameters, with all of them.
truth:
	$(PYTHON) benchmarks/truth.py
	ROCDBG_TEST_EVERYTHING=1 $(PYTHON) -m pytest -n 2 --dist worksteal -m truth

bench:
	$(PYTHON) benchmarks/dwarf_speed.py
	$(PYTHON) benchmarks/startup.py
	$(PYTHON) benchmarks/deep_stack.py
