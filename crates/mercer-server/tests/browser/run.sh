#!/bin/sh
# Runs the tests of the studio's page in Chromium. What is missing is installed if the system allows it; otherwise the
# tests are skipped with the reason.
set -eu
cd "$(dirname "$0")"

skip() {
    echo "SKIPPED: the browser tests of the studio did not run: $1"
    exit 0
}

command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 || skip "Node.js is not installed"
[ "$(node -p 'process.versions.node.split(".")[0] >= 20')" = true ] || skip "Node.js is older than version 20"
if ! command -v chromium >/dev/null 2>&1 && [ -z "${CHROMIUM:-}" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing chromium by apt-get"
        apt-get update -q >/dev/null 2>&1 || true
        DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends chromium >/dev/null 2>&1 ||
            skip "chromium could not be installed by apt-get"
    else
        skip "chromium is not installed (Debian: apt-get install chromium; elsewhere set CHROMIUM to its path)"
    fi
fi
if [ ! -d node_modules ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    npm ci --silent --no-fund --no-audit >/dev/null 2>&1 || skip "npm could not install playwright-core and axe-core"
fi
exec node --test --test-timeout=180000
