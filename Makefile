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

.tools/bin/act: tools/go.mod tools/go.sum
	mkdir -p .tools/bin
	GOFLAGS= go build -modfile=tools/go.mod -o $@ github.com/nektos/act

# Only the engines whose lockfile is here; the platform's program is called directly, so no script of a package runs.
tools-engines:
	@for engine in engines/*/; do \
	  if [ -f "$$engine/package.json" ]; then echo "npm ci: $$engine"; npm ci --ignore-scripts --prefix "$$engine" || exit 1; fi; \
	done

