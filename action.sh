#!/usr/bin/env bash
# The wrapper of action.yml: replaces itself by the binary of this commit, so that signals of the runner reach it.
# A commit of the source has no binary; there it is built, when Go is there. Nothing is downloaded.
set -euo pipefail

fail() { # CODE MESSAGE: fixed words only
  printf '::error title=issue-assistant::%s\n' "$2"
  exit "$1"
}

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)

# A command is one or two words, for example "chunk poll".
[[ ${INPUT_COMMAND:-} =~ ^[a-z]+(\ [a-z]+)?$ ]] ||
  fail 2 'the input command is missing or is no command: write one, for example "command: event"'
read -r -a words <<<"$INPUT_COMMAND"

machine=${RUNNER_OS:-}-${RUNNER_ARCH:-}
case $machine in
  Linux-X64) binary=$here/dist/issue-assistant-linux-amd64 ;;
  Linux-ARM64) binary=$here/dist/issue-assistant-linux-arm64 ;;
  *) binary= ;;
esac

if [[ -d $here/dist ]]; then
  [[ -n $binary ]] || fail 3 'this action runs on Linux runners (X64 and ARM64); there is no binary for this machine'
  [[ -x $binary ]] || fail 3 'this commit lacks the binary for this machine, or it may not be executed: pin the commit of a release'
  exec "$binary" "${words[@]}"
fi

command -v go >/dev/null ||
  fail 3 'this commit holds no binary and there is no Go to build one: pin the commit of a release, or run actions/setup-go before'
out=${RUNNER_TEMP:-${TMPDIR:-/tmp}}/issue-assistant-build
suffix=
if [[ $machine == Windows-* ]]; then suffix=.exe; fi
mkdir -p -- "$out"
built=$out/issue-assistant$suffix
(
  # The build sees no key and no token, and settles in this folder, not in the checkout that the job works on.
  unset ANTHROPIC_API_KEY CLAUDE_CODE_OAUTH_TOKEN OPENAI_API_KEY GEMINI_API_KEY GH_TOKEN GITHUB_TOKEN
  cd -- "$here"
  GOTOOLCHAIN=local GOFLAGS=-mod=readonly GOWORK=off CGO_ENABLED=0 \
    go build -trimpath -tags nethttpomithttp2 -o "$built" ./cmd/issue-assistant
) >&2 || fail 3 'building the action from its source failed; the lines above say why'
exec "$built" "${words[@]}"
