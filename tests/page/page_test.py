# SPDX-License-Identifier: BSD-2-Clause
"""page_test.py MRC: the pages that compare runs draw what they hold, and load without an error."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tidy"))
import tap  # noqa: E402
from tree import Skip  # noqa: E402

MRC = sys.argv[1]
LIBRARY = pathlib.Path("/usr/share/javascript/chart.js/chart.min.js")
SMALL = ["topology.planes=3", "topology.hosts_per_t0=4", "topology.t0s=4", "topology.t1s=4",
         "workload.0.bytes=2M"]


def mrc(*words, status=0):
    done = subprocess.run([MRC, "sim", *words], capture_output=True, text=True, timeout=200)
    assert done.returncode == status, f"mrc sim {words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def make_results(folder):
    """Two runs of a small fabric, one with a fault."""
    sets = [word for change in SMALL for word in ("--set", change)]
    for name, more in (("whole", []), ("broken", ["--seed", "7"])):
        scenario = "fault-none" if name == "whole" else "fault-t0-down"
        mrc("run", scenario, *sets, *more, "--quiet", f"--json={folder / name}.json")
    return [str(folder / "whole.json"), str(folder / "broken.json")]


def make_page(folder):
    if not LIBRARY.exists():
        raise Skip("no libjs-chart.js; tools/deps check installs it")
    page = folder / "page.html"
    mrc("compare", *make_results(folder), "--html", str(page), "--title", "a <b> & c")
    return page


def results_hold_curves():
    with tempfile.TemporaryDirectory() as name:
        result = json.loads(pathlib.Path(make_results(pathlib.Path(name))[1]).read_text())
    history = result["history"]
    placed = sum((to - since) / 1e6 * gbps * 1e9 / 8 for since, to, gbps in
                 zip([0] + history["time_us"], history["time_us"], history["gbps"][0]))
    whole = result["parts"][0]["bytes"]
    cdf = result["parts"][0]["cdf"]
    violations = []
    if abs(placed - whole) > whole * 1e-6:
        violations.append(f"the curve holds {placed} bytes, the flows {whole}")
    if cdf["us"] != sorted(cdf["us"]) or cdf["us"][-1] != result["fct_us"]["p100"]:
        violations.append("the distribution does not rise to the slowest flow")
    if result["faults"][0]["at_us"] != 50 or result["parameters"]["seed"] != 7:
        violations.append(f"faults or parameters: {result['faults']}")
    return violations


def compare_says_what_differs():
    with tempfile.TemporaryDirectory() as name:
        said = mrc("compare", *make_results(pathlib.Path(name))).stdout
    return [f"no line {line}" for line in (r"seed +1 +7", r"figure|all of it +whole +broken +ratio",
                                           r"completion P99 \(us\)", r"part 0: permutation")
            if not re.search(line, said)]


def page_draws_without_a_document():
    if not shutil.which("node"):
        raise Skip("no nodejs")
    with tempfile.TemporaryDirectory() as name:
        page = make_page(pathlib.Path(name))
        done = subprocess.run(["node", HERE / "draw.js", page], capture_output=True, text=True, timeout=100)
    if done.returncode:
        return done.stderr.splitlines()
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    wanted = {"Goodput", "Completion times", "Packets dropped"}
    violations = [f"no chart {title}" for title in wanted - {row[0] for row in rows}]
    return violations + [f"{row}: nothing was drawn" for row in rows
                         if row[1] != "2" or int(row[2]) < 8 or int(row[3]) < 8]


def page_needs_nothing_else():
    with tempfile.TemporaryDirectory() as name:
        text = make_page(pathlib.Path(name)).read_text()
    outside = re.findall(r"<(?:link|img|iframe)[^>]*>|<script[^>]*src=[^>]*>|@import[^;]*;", text)
    violations = [f"from outside: {found}" for found in outside]
    if "<title>a &lt;b> &amp; c</title>" not in text:
        violations.append("the title is not escaped")
    return violations


def page_loads_in_chromium():
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        raise Skip("no chromium; make check-full installs it")
    with tempfile.TemporaryDirectory() as name:
        page = make_page(pathlib.Path(name))
        done = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             f"--user-data-dir={name}/profile", "--enable-logging=stderr",
             "--virtual-time-budget=5000", "--dump-dom", page.as_uri()],
            capture_output=True, text=True, timeout=200)
    root = re.search(r"<html[^>]*>", done.stdout)
    violations = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    if not root or 'data-state="drawn"' not in root[0] or "data-error" in root[0]:
        violations.append(f"the page did not draw: {root and root[0]} {done.stderr[-500:]}")
    elif int(re.search(r'data-charts="(\d+)"', root[0])[1]) < 4:
        violations.append(f"too few charts: {root[0]}")
    return violations


if __name__ == "__main__":
    tap.main([(f"{f.__name__.split('_')[0]}__{f.__name__.split('_', 1)[1]}", f) for f in (
        results_hold_curves, compare_says_what_differs, page_draws_without_a_document,
        page_needs_nothing_else, page_loads_in_chromium)])
