# SPDX-License-Identifier: BSD-2-Clause
"""page_test.py MRC [--browser]: the pages about results draw what they hold; with --browser: load without an error, whole."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tidy"))
import tap  # noqa: E402
from browser import DESK, PHONE, Browser  # noqa: E402
from tree import Skip  # noqa: E402

MRC = sys.argv[1]
SMALL = ["topology.planes=3", "topology.hosts_per_t0=4", "topology.t0s=4", "topology.t1s=4",
         "workload.0.bytes=2M"]


def mrc(*words, status=0):
    done = subprocess.run([MRC, *words], capture_output=True, text=True, timeout=200)
    assert done.returncode == status, f"mrc {words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def make_results(folder):
    """Two runs of a small fabric, one with a fault."""
    sets = [word for change in SMALL for word in ("--set", change)]
    for name, more in (("whole", []), ("broken", ["--seed", "7"])):
        scenario = "fault-none" if name == "whole" else "fault-t0-down"
        mrc("sim", "run", scenario, *sets, *more, "--quiet", f"--json={folder / name}.json")
    return [str(folder / "whole.json"), str(folder / "broken.json")]


def make_page(folder):
    page = folder / "page.html"
    mrc("sim", "compare", *make_results(folder), "--html", str(page), "--title", "a <b> & c")
    return page


def job(name, steps, slow=None):
    """What a result of mrc demo says of a job, one step of which took long."""
    times = [300 if i == slow else 50 + i for i in range(steps)]
    return {"finished": True, "steps": steps, "transport": name, "sha256": "ab" * 32, "final_loss": 2.0, "seconds": 3.5, "counters": {"evs_retired": 4},
            "step_list": [{"start_ms": 60.0 * i, "step_ms": t, "allreduce_ms": t - 20, "loss": 8 / (i + 1)} for i, t in enumerate(times)]}


def make_demo():
    """A result of mrc demo as src/demo/demo_result.c writes it."""
    times = {"steps": 9, "step_ms": 50.0, "allreduce_ms": 30.0, "max_ms": 60.0}
    return {"format": "softmrc-demo-1", "version": "12.34.56", "pass": True, "checks": [{"pass": True, "text": "equal weights"}], "seconds": 9.5, "config": {"on": "lab", "ranks": 4},
            "fabric": {"planes": 2, "tiers": 2, "hosts": 5, "hosts_per_t0": 3, "t0s": 2, "t1s": 4},
            "fault_free": job("MRC", 30), "with_faults": job("MRC", 30, 12), "tcp": job("TCP", 12),
            "faults": [{"kind": "t1", "title": "a T1 <b> is dead", "targets": ["plane0.t1-2"], "struck": True, "strike_s": 0.5, "clear_s": 1.0, "before": times, "during": times,
                        "after": times, "expected_step_ms": 50.0, "times": {"found_ms": 1.5, "left_ms": None, "all_good_ms": 20.0}, "data_packets_lost": 7}]}


def make_lab():
    """A result of mrc lab run as src/cli/lab/lab_run.c writes it."""
    return {"scenario": "x.toml", "version": "12.34.56", "title": "a cable is cut", "pass": False, "fabric": make_demo()["fabric"],
            "events": [{"at_s": 1.0, "what": "plane1.t0-1.u3 down"}, {"at_s": 2.5, "what": "a <script>"}],
            "checks": [{"what": "delivered", "actual": "0 of 9", "pass": False}]}


def make_reports(folder):
    """Kind of result -> its page, of all that mrc report takes."""
    (folder / "demo.json").write_text(json.dumps(make_demo()))
    (folder / "lab.json").write_text(json.dumps(make_lab()))
    sets = [word for change in SMALL for word in ("--set", change)]
    swept = mrc("sim", "sweep", "fault-t0-down", *sets, "--vary", "seed=1,2,3", "--dir", str(folder / "sweep"), "--json")
    (folder / "sweep.json").write_text(swept.stdout)
    figure = {"name": "none", "title": "a figure", "claims": [{"text": "flows", "value": 16, "min": 16, "max": None, "holds": True}],
              "runs": [{"name": "a", "family": "a", "result": json.loads(pathlib.Path(make_results(folder)[0]).read_text())}]}
    (folder / "figure.json").write_text(json.dumps(figure))
    pages = {}
    for kind, names in (("demo", ["demo"]), ("lab", ["lab"]), ("sweep", ["sweep"]), ("figure", ["figure"]), ("runs", ["whole", "broken"]), ("run", ["broken"])):
        pages[kind] = folder / f"{kind}.html"
        mrc("report", *[str(folder / f"{name}.json") for name in names], "--out", str(pages[kind]))
    return pages


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
        said = mrc("sim", "compare", *make_results(pathlib.Path(name))).stdout
        twice = [pathlib.Path(name) / folder / "run.json" for folder in ("before", "after")]
        for file, result in zip(twice, make_results(pathlib.Path(name))):
            file.parent.mkdir()
            shutil.copy(result, file)
        said += mrc("sim", "compare", *twice).stdout
    return [f"no line {line}" for line in (r"all of it +run \(1\) +run \(2\) +ratio", r"seed +1 +7", r"figure|all of it +whole +broken +ratio",
                                           r"completion P99 \(us\)", r"part 0: permutation")
            if not re.search(line, said)]


def drawn(page):
    """Title -> curves, points and SVG of each picture of a page, drawn in nodejs."""
    if not shutil.which("node"):
        raise Skip("no nodejs")
    done = subprocess.run(["node", HERE / "draw.js", page], capture_output=True, text=True, timeout=100)
    if done.returncode:
        raise RuntimeError(done.stderr)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {title: (int(curves), int(points), xml.etree.ElementTree.fromstring(svg)) for title, curves, points, svg in rows}


def classes(picture, name):
    return sum(e.get("class") == name for e in picture.iter())


def page_draws_without_a_document():
    with tempfile.TemporaryDirectory() as name:
        pictures = drawn(make_page(pathlib.Path(name)))
    fabric = pictures.pop("fabric")[2]
    problems = [f"no chart {title}" for title in {"Goodput", "Completion times", "Packets dropped"} - set(pictures)]
    problems += [f"{title}: too little was drawn" for title, (curves, points, _) in pictures.items() if curves != 2 or points < 8]
    problems += [] if classes(pictures["Goodput"][2], "fault") == 1 else ["the fault is not marked"]
    # The switch that is down, and no other.
    return problems + ([] if classes(fabric, "hurt") == 1 else ["the fabric shows no switch that is down"])


WANTED = {"demo": {"Time of a step", "Steps that are done", "Of which all-reduce", "Times of steps, as a CDF", "Loss", "fabric"}, "lab": {"fabric"},
          "sweep": {"Time over ideal", "Completion P99", "Packets dropped", "fabric"}, "figure": {"Goodput", "Completion times", "fabric"},
          "runs": {"Goodput", "Completion times", "fabric"}, "run": {"Goodput", "Completion times", "Packets dropped", "fabric"}}


def report_draws_every_kind():
    with tempfile.TemporaryDirectory() as name:
        pictures = {kind: drawn(page) for kind, page in make_reports(pathlib.Path(name)).items()}
    problems = [f"{kind}: no picture {title}" for kind, wanted in WANTED.items() for title in wanted - set(pictures[kind])]
    if not problems:
        curves, points, svg = pictures["demo"]["Steps that are done"]
        if (curves, points, classes(svg, "fault")) != (3, 72, 1):
            problems.append(f"demo: {curves} curves of {points} points, {classes(svg, 'fault')} faults")
        problems += [f"{kind}: want one part that a fault named" for kind in ("demo", "lab") if classes(pictures[kind]["fabric"][2], "hurt") != 1]
        if pictures["sweep"]["Completion P99"][:2] != (1, 3):
            problems.append(f"sweep: {pictures['sweep']['Completion P99'][:2]}")
    return problems


def report_refuses_what_is_no_result():
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, text in (("broken", "{"), ("other", '{"a": 1}'), ("list", "[]"), ("demo", json.dumps(make_demo())), ("half", '{"events": [], "checks": 3, "scenario": "x"}')):
            (folder / f"{file}.json").write_text(text)
        for names, wanted in ((["broken"], "broken.json:1: "), (["absent"], "absent.json: No such file"), (["other"], "other.json: is no result of mrc demo, "),
                              (["list"], "list.json: is no result"), (["half"], "half.json: is no result"), (["demo", "demo"], "demo.json: is a result of mrc demo, which"), ([], "expected a RESULT")):
            said = mrc("report", *[str(folder / f"{n}.json") for n in names], "--out", str(folder / "out.html"), status=2).stderr
            problems += [] if wanted in said else [f"{names}: want '{wanted}', got '{said}'"]
            problems += [f"{names}: a page was written"] if (folder / "out.html").exists() else []
        said = mrc("report", str(folder / "demo.json"), "--out", "/nowhere/x.html", status=1).stderr
        problems += [] if "/nowhere/x.html: cannot be written: No such file" in said else [f"no folder: {said}"]
    return problems


def page_needs_nothing_else():
    with tempfile.TemporaryDirectory() as name:
        text = make_page(pathlib.Path(name)).read_text()
    outside = re.findall(r"<(?:link|img|iframe)[^>]*>|<script[^>]*src=[^>]*>|@import[^;]*;", text)
    violations = [f"from outside: {found}" for found in outside]
    if "<title>a &lt;b> &amp; c</title>" not in text:
        violations.append("the title is not escaped")
    return violations


# Both files of a picture: an SVG that can stand alone, and a PNG in which more than one colour is.
EXPORT = """(async () => {
    const svg = document.querySelector(".picture").innerHTML;
    const png = await softmrc_page.png(svg);
    const image = new Image();
    image.src = png;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.width; canvas.height = image.height;
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const seen = new Set(new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer));
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
    return [png.startsWith("data:image/png"), image.width >= 640, seen.size > 2, parsed.querySelector("parsererror") === null && !svg.includes("var(")];
})()"""


def page_loads_in_chromium():
    problems = []
    with tempfile.TemporaryDirectory() as name, Browser() as browser:
        pages = make_reports(pathlib.Path(name)) | {"compare": make_page(pathlib.Path(name))}
        for kind, page in pages.items():
            pictures = str(len(drawn(page)))
            for size, dark in ((DESK, False), (DESK, True), (PHONE, False), (PHONE, True)):
                browser.look(size, dark)
                browser.open(page.as_uri())
                state = browser.value("JSON.stringify(document.documentElement.dataset)")
                wide = browser.too_wide()
                problems += [f"{kind}: {p}" for p in browser.problems] + ([f"{kind}: too wide: {wide}"] if wide else [])
                if json.loads(state).get("charts") != pictures:
                    problems.append(f"{kind}: {state}")
            exported = browser.value(EXPORT)
            problems += [] if exported == [True] * 4 else [f"{kind}: saved: {exported} {browser.problems}"]
    return problems


if __name__ == "__main__":
    quick = (results_hold_curves, compare_says_what_differs, page_draws_without_a_document, report_draws_every_kind,
             report_refuses_what_is_no_result, page_needs_nothing_else)
    tap.main([(f"{f.__name__.split('_')[0]}__{f.__name__.split('_', 1)[1]}", f)
              for f in ((page_loads_in_chromium,) if "--browser" in sys.argv else quick)])
