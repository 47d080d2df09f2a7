# SPDX-License-Identifier: BSD-2-Clause
"""Runs the tidy checks, each as one case.

run.py --build FOLDER                            what reads the sources and the call graph
run.py --archives base=LIB wire=LIB ...    what reads the symbols of the modules' archives
"""
import argparse
import functools
import importlib.machinery
import importlib.util

import archive_checks
import compile_checks
import doc_checks
import graph_checks
import security_checks
import source_checks
import tap
import word_checks
from tree import HERE, Tree

import callgraph  # in tools/, which tree.py adds to the path

ROOT = HERE.parent.parent


def load_conformance():
    """tools/conformance is a program without a suffix; this imports it all the same."""
    loader = importlib.machinery.SourceFileLoader("conformance", str(ROOT / "tools/conformance"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("conformance", loader))
    loader.exec_module(module)
    return module


def source_cases(tree):
    conformance = load_conformance()
    plain = [
        source_checks.layer_includes,
        source_checks.part_order,
        source_checks.part_includes,
        source_checks.lengths,
        source_checks.widths,
        source_checks.leaks,
        source_checks.spdx,
        source_checks.readme_modules,
        source_checks.doc_links,
        doc_checks.doc_records,
        doc_checks.doc_record_index,
        doc_checks.doc_index,
        doc_checks.doc_interop,
        doc_checks.doc_findings,
        doc_checks.conform_coverage,
        doc_checks.doc_tables,
        doc_checks.doc_front_page,
        doc_checks.doc_changes,
        doc_checks.doc_version,
        security_checks.security_numbers,
        word_checks.retired_words,
        compile_checks.headers_alone,
        compile_checks.engine_map,
        compile_checks.clang_warnings,
        compile_checks.clang_tidy,
        compile_checks.dead_files,
        compile_checks.fmt,
    ]
    cases = [(check.__name__, lambda check=check: check(tree)) for check in plain]
    cases.append(("requirements", lambda: source_checks.requirements(tree, conformance)))
    return cases


def graph_cases(tree):
    """What reads the object files of a whole build."""
    conformance = load_conformance()
    graph = functools.cache(lambda: callgraph.Graph(tree.root, tree.build))
    return [
        (
            "requirements_reached",
            lambda: graph_checks.requirements_reached(tree.root, graph(), conformance),
        ),
        ("functions_reached", lambda: graph_checks.functions_reached(tree.root, graph())),
    ]


def archive_cases(archives, limits):
    checks = (archive_checks.core_symbols, archive_checks.mutable_globals)
    cases = [(check.__name__, lambda check=check: check(archives)) for check in checks]
    cases.append(("call_cycles", lambda: archive_checks.call_cycles(archives, limits)))
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archives", nargs="+", metavar="MODULE=LIB")
    parser.add_argument("--build", metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.archives:
        archives = dict(a.split("=", 1) for a in arguments.archives)
        tap.main(archive_cases(archives, Tree(ROOT).cycle_limits))
    tree = Tree(ROOT, arguments.build)
    tap.main(source_cases(tree) + graph_cases(tree))


if __name__ == "__main__":
    main()
