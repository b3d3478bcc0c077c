# What the tests and the build need beside Go. `make tools` installs it below this folder; apt packages only as root.
.PHONY: tools tools-apt tools-node tools-act tools-engines

tools: tools-apt tools-node tools-act tools-engines

APT_TOOLS = shellcheck cmark-gfm gh

tools-apt:
	@missing=; for tool in $(APT_TOOLS); do command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ]; then apt-get update -q && apt-get install -qy $$missing; \
	elif sudo -n true 2>/dev/null; then sudo apt-get update -q && sudo apt-get install -qy $$missing; \
	else echo "install by hand:$$missing" >&2; fi

tools-node:
	npm ci --ignore-scripts --prefix tools/node

tools-act: .tools/bin/act

# With a patch, see there. Go builds no changed file of its module cache, so the module is copied.
.tools/bin/act: tools/go.mod tools/go.sum tools/act.patch
	mkdir -p .tools/bin
	GOFLAGS= go mod download -modfile=tools/go.mod github.com/nektos/act
	folder=$$(mktemp -d) && from=$$(GOFLAGS= go list -modfile=tools/go.mod -m -f '{{.Dir}}' github.com/nektos/act) && \
	tar -C "$$from" --exclude=testdata --mode=u+w -cf - . | tar -C "$$folder" -xf - && \
	(cd "$$folder" && git apply --unsafe-paths --whitespace=nowarn "$(CURDIR)/tools/act.patch") && \
	cp tools/go.mod "$$folder/tools.mod" && cp tools/go.sum "$$folder/tools.sum" && \
	go mod edit -replace github.com/nektos/act="$$folder" "$$folder/tools.mod" && \
	GOFLAGS= go build -modfile="$$folder/tools.mod" -trimpath -o $@.new github.com/nektos/act && mv $@.new $@ && rm -r "$$folder"

# Only the engines whose lockfile is here; the platform's program is called directly, so no script of a package runs.
tools-engines:
	@for engine in engines/*/; do \
	  if [ -f "$$engine/package.json" ]; then echo "npm ci: $$engine"; npm ci --ignore-scripts --prefix "$$engine" || exit 1; fi; \
	done


# Time and memory of `usage` on 5 MB to 1 GiB beside jq and Node, in one run; writes docs/benchmarks/usage.md.
.PHONY: bench-usage fuzz-usage
bench-usage:
	mkdir -p docs/benchmarks
	go run ./internal/tools/benchusage

# Every fuzz target of the usage line for FUZZTIME each.
FUZZTIME ?= 10m
fuzz-usage:
	for t in FuzzEnds FuzzReadClaude FuzzReadCodex FuzzReadGemini FuzzReadOurs; do \
	  go test ./internal/usage -run xxx -fuzz "^$$t$$" -fuzztime $(FUZZTIME) || exit 1; done
	for t in FuzzReader FuzzMembers FuzzQuotes; do \
	  go test ./internal/engine/enginelog -run xxx -fuzz "^$$t$$" -fuzztime $(FUZZTIME) || exit 1; done

# The meter: 10,000 seeded runs against a provider that bills by its own counter, the budget's use, the time beside the
# standard library's reverse proxy, and Claude Code where it is installed. Figures: docs/benchmarks/run.md.
.PHONY: bench-run prices
SEEDS ?= 10000
bench-run:
	METER_BENCH=1 go test ./internal/meter -count=1 -v -run 'TestOverhead'
	METER_SEEDS=$(SEEDS) go test ./internal/meter -count=1 -v -timeout 2h -run 'TestNoSeedGoesOverItsBudget|TestAnEndlessRun|TestUsualTasks|TestClaudeCode' | grep -v '^=== '

# Newer prices to compare with: the test then lists every difference to internal/meter/prices.json.
GENAI_PRICES ?= latest
prices:
	folder=$$(mktemp -d) && cd $$folder && npm pack --silent @pydantic/genai-prices@$(GENAI_PRICES) && tar xzf *.tgz && cd - && \
	node internal/tools/genprices/extract.mjs $$folder/package > internal/meter/testdata/genai-prices/models.json && \
	cp $$folder/package/LICENSE internal/meter/testdata/genai-prices/LICENSE && rm -r $$folder
	go test ./internal/meter -count=1 -run TestDifferencesToGenaiPrices

# Cleaning: times into docs/benchmarks/sanitize.md, and fuzzing of the composed comment with two other parsers as judges.
# What fuzzing finds becomes a corpus file that every test reads: MOVE_FINDINGS=1 go test ./internal/sanitize -run MoveFindings
.PHONY: bench-sanitize fuzz-sanitize
bench-sanitize:
	mkdir -p docs/benchmarks
	SANITIZE_BENCH=1 go test ./internal/sanitize -count=1 -run TestWriteBenchmarks

fuzz-sanitize:
	go test ./internal/sanitize -run xxx -fuzz FuzzComment -fuzztime $(FUZZTIME)

# GitHub's OpenAPI description and GraphQL schema, cut down to what the product uses, for the checker of the tests. The
# same packages give the same bytes; a newer one is chosen here.
.PHONY: slim-openapi
OCTOKIT_OPENAPI ?= 23.0.2
OCTOKIT_GRAPHQL ?= 15.26.1
slim-openapi:
	folder=$$(mktemp -d) && ( cd $$folder && npm pack --silent @octokit/openapi@$(OCTOKIT_OPENAPI) @octokit/graphql-schema@$(OCTOKIT_GRAPHQL) && \
	  mkdir rest graphql && tar xzf octokit-openapi-*.tgz -C rest package/generated/api.github.com.json package/LICENSE && \
	  tar xzf octokit-graphql-schema-*.tgz -C graphql package/schema.graphql package/LICENSE.md ) && \
	go run ./internal/tools/slimgithub $$folder/rest/package/generated/api.github.com.json $$folder/graphql/package/schema.graphql internal/ghapi/ghcheck/testdata && \
	cp $$folder/rest/package/LICENSE internal/ghapi/ghcheck/testdata/openapi.LICENSE && \
	cp $$folder/graphql/package/LICENSE.md internal/ghapi/ghcheck/testdata/graphql-schema.LICENSE && rm -r $$folder

# golangci-lint by .golangci.yml.
.PHONY: lint
GOLANGCI ?= golangci-lint
lint:
	$(GOLANGCI) run ./...

# Everything that a release consists of, built here twice and compared; nothing is published.
.PHONY: release-dry-run
VERSION ?= v0.1.0
release-dry-run:
	rm -rf bin/release
	go run ./internal/tools/release -version $(VERSION) -out bin/release -verify -commit

# apply with faults at random requests and a clean run after each: the long form of what `go test` does with 60 seeds.
.PHONY: chaos-apply
CHAOS_SEEDS ?= 2000
chaos-apply:
	CHAOS_SEEDS=$(CHAOS_SEEDS) go test ./internal/apply -count=1 -run TestChaos -timeout 2h

# The real engines under every attack at every limit, written as a page; `go test` runs a short form.
.PHONY: bench-engines
bench-engines:
	ENGINES_TABLE=$(CURDIR)/docs/benchmarks/engines.md go test ./internal/engine/attack -count=1 -run TestAttackTable -timeout 2h

# Everything under act, with the long forms: each task again in every way, and each signal, with all three engines.
.PHONY: e2e-all
e2e-all:
	E2E_ALL=1 go test ./internal/e2e -count=1 -v -timeout 1h

# Similar issues: recall beside plain BM25 on the same data, time and memory with 50,000 issues. Writes docs/benchmarks/context.md
# and context-memory.md.
.PHONY: bench-context
bench-context:
	mkdir -p docs/benchmarks
	CONTEXT_BENCH=1 go test ./internal/material/search -count=1 -v -run TestWriteBenchmarks
	CONTEXT_BENCH=1 go test ./internal/cli -count=1 -v -run TestMemoryOfContext

# The sweep through 400 days of 300 issues with faults: the long form of what `go test` does. A seed takes
# a second or two; CHAOS_FROM begins at another one.
.PHONY: chaos-sweep
SWEEP_SEEDS ?= 1000
chaos-sweep:
	CHAOS_SEEDS=$(SWEEP_SEEDS) GOGC=400 go test ./internal/lifecycle -count=1 -v -run 'TestChaos$$' -timeout 24h

# The tables and the picture of docs/sessions.md: the cost model, and the decision on 200 simulated issues.
.PHONY: sessions
sessions:
	go run ./internal/tools/genshadow

# Which statements the tests run, package by package; fails below 85 %. Writes docs/benchmarks/coverage.md.
.PHONY: coverage
coverage:
	mkdir -p docs/benchmarks
	go run ./internal/tools/coverage -min 85 -out docs/benchmarks/coverage.md

# Forty promises broken on purpose, each in a copy of the tree; fails when fewer than 38 are noticed. Writes
# docs/benchmarks/mutation.md.
.PHONY: mutate
mutate:
	mkdir -p docs/benchmarks
	go run ./internal/tools/mutate -out docs/benchmarks/mutation.md

# The licences of everything that is linked into the binaries.
.PHONY: notices
notices:
	go run ./internal/tools/notices

# Functions that nothing reaches: from the program, and from the tests with it. Prints nothing when there are none.
.PHONY: deadcode
DEADCODE ?= v0.52.0
deadcode:
	@found=$$(go run golang.org/x/tools/cmd/deadcode@$(DEADCODE) ./cmd/issue-assistant && go run golang.org/x/tools/cmd/deadcode@$(DEADCODE) -test ./...) && \
	if [ -n "$$found" ]; then echo "$$found"; exit 1; fi

# Two agents over the same 20 issues in 1,000 seeded interleavings, with lost answers and late lists; `go test` does 40.
.PHONY: chaos-chunk
chaos-chunk:
	CHUNK_SEEDS=1000 go test ./internal/chunk/tracker -count=1 -v -run TestTwoAgents -timeout 1h

# README's set-up section, followed to the letter on a stand-in of github.com; writes docs/benchmarks/setup.md. The same
# trial is a test of `go test`.
.PHONY: bench-setup
bench-setup:
	mkdir -p docs/benchmarks
	SETUP_TRIAL=$(CURDIR)/docs/benchmarks/setup.md go test ./internal/e2e -count=1 -timeout 10m -run TestReadmeSetUp

# The pictures in docs/images/ and the guide's costs, from what the program writes today; only what changed is drawn.
# Needs Debian's chromium, fonts-noto-core, fonts-noto-cjk. `pictures-record` runs the real Claude Code against a stand-in.
.PHONY: tools-pictures pictures pictures-record
tools-pictures:
	npm ci --ignore-scripts --prefix tools/pictures

pictures:
	go run ./internal/tools/pictures

pictures-record:
	go run ./internal/tools/pictures -record

# `chunk report` on 50,000 calls, under two seconds.
.PHONY: bench-chunk
bench-chunk:
	CHUNK_BENCH=1 go test ./internal/chunk/calls -count=1 -v -run TestFiftyThousandCalls

# The same month shown to ccusage and to `cost`. Writes docs/benchmarks/cost.md.
.PHONY: bench-cost
CCUSAGE ?= 20.0.24
bench-cost:
	folder=$$(mktemp -d) && npm install --silent --ignore-scripts --no-save --prefix $$folder ccusage@$(CCUSAGE) && \
	go run ./internal/tools/benchcost -ccusage $$folder/node_modules/.bin/ccusage && rm -r $$folder
