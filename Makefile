# What `./test` does in parts, and what takes longer. PYTHON: an interpreter with the project's test dependencies.
PYTHON ?= $(firstword $(wildcard .venv-test/bin/python .venv/bin/python) python3)
FUZZ_SECONDS ?= 60

.PHONY: test fuzz bench lint

test:
	./test

lint:
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy

# Bounded in time; prints how to replay an input that fails.
fuzz:
	$(PYTHON) benchmarks/fuzz_dwarf.py --seconds $(FUZZ_SECONDS)

bench:
	$(PYTHON) benchmarks/dwarf_speed.py
	$(PYTHON) benchmarks/startup.py
