# SPDX-License-Identifier: BSD-2-Clause
"""What tools/foreign says of a folder, without any checkout; and that the harness for network plugins builds and refuses."""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tidy")]
import programs  # noqa: E402
import tap  # noqa: E402

OCP_SYMBOLS = """int (*mrc_query_device_internal)(struct ibv_context *context, struct mrc_attr *attr,
                                 int *supported);
struct mrc_qp_hint *(*mrc_create_qp_hint_internal)(struct mrc_context *c);
"""
OLD_SYMBOLS = "int (*mrc_query_device_internal)(struct ibv_context *context, struct mrc_attr *attr);\n"


def plugin(version):
    numbers = zip(("MAJOR", "MINOR", "PATCH"), version.split("."))
    return {"src/net_mrc_plugin.c": "", "src/p2p_plugin.c": "",
            "include/version.h": "".join(f"#define MRC_NCCL_PLUGIN_VERSION_{n} {v}\n" for n, v in numbers)}


def shim(symbols):
    return {"src/vmrc_ibv_overwrites.c": "", "src/vmrc_symbols.c": "", "src/include/vmrc_symbols.h": symbols}


def nccl(version):
    numbers = zip(("MAJOR", "MINOR", "PATCH"), version.split("."))
    return {"makefiles/version.mk": "".join(f"NCCL_{n} := {v}\n" for n, v in numbers), "src/transport/net_ib.cc": ""}


def asked(files, words=(), env=None):
    """(exit status, output) of tools/foreign for a folder with these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, "-B", ROOT / "tools/foreign", folder, "--list", *words], text=True,
                              capture_output=True, check=False, env=env)
    return done.returncode, done.stdout + done.stderr


def want(got, status, text):
    return [] if got[0] == status and text in got[1] else [f"is {got}, not {status} with {text!r}"]


def known_plugin():
    return want(asked(plugin("0.1.1")), 0, "mrc-nccl-plugin 0.1.1 (not a checkout of git)")


def another_version_is_named():
    return want(asked(plugin("0.2.0")), 2, "mrc-nccl-plugin 0.2.0") + want(asked(plugin("0.2.0")), 2, "known here: 0.1.1")


def version_that_is_not_there():
    return want(asked(plugin("0.1")), 2, "of unknown version")


def known_shim():
    return want(asked(shim(OCP_SYMBOLS)), 0, "mrc-verbs-shim-lib with OCP's mrc.h")


def older_shim_is_named():
    return want(asked(shim(OLD_SYMBOLS)), 2, "mrc-verbs-shim-lib of before OCP's mrc.h")


def known_nccl():
    return want(asked(nccl("2.30.7")), 0, "port recovery")


def another_nccl_is_named():
    return want(asked(nccl("2.99.1")), 2, "nccl 2.99.1") + want(asked(nccl("2")), 2, "of unknown version")


def sharp_needs_doca():
    fork = {"src/sharp_plugin.c": "", "configure.ac": "", "src/mrc.c": ""}
    plain = {"src/sharp_plugin.c": "", "configure.ac": ""}
    return want(asked(fork), 77, "needs NVIDIA's DOCA") + want(asked(plain), 77, "has no path over libmrc")


def none_of_them():
    return want(asked({"README": ""}), 2, "is none of mrc-nccl-plugin")


def no_checkout():
    done = subprocess.run([sys.executable, "-B", ROOT / "tools/foreign"], text=True, capture_output=True, check=False,
                          env={k: v for k, v in os.environ.items() if k != "SOFTMRC_FOREIGN"})
    return want((done.returncode, done.stdout), 77, "SKIP: no checkout is given")


def harness_builds_and_refuses():
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/net_harness"
        built = subprocess.run(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-rdynamic", "-o", program,
                                HERE / "net_harness.c", HERE / "net_traffic.c", HERE / "net_abi.c"], text=True,
                               capture_output=True, check=False)
        if built.returncode:
            return [built.stderr]
        problems = []
        for words, status, text in ((["x.so", "2", folder, "11"], 2, "out of range"),
                                    (["x.so", "0", folder, "13"], 2, "out of range"),
                                    (["x.so", "0", folder, "11", "comms=9"], 2, "out of range"),
                                    (["x.so", "0", folder, "11", "colour=1"], 2, "colour=1"),
                                    (["x.so", "0", folder], 2, "words are missing"),
                                    (["./x.so", "0", folder, "11"], 1, "x.so"),
                                    (["libc.so.6", "0", folder, "11"], 1, "has no ncclNetPlugin_v11")):
            done = subprocess.run([program, *words], text=True, capture_output=True, check=False)
            problems += want((done.returncode, done.stderr), status, text)
    return problems


tap.main([(case.__name__, case) for case in
          (known_plugin, another_version_is_named, version_that_is_not_there, known_shim, older_shim_is_named,
           known_nccl, another_nccl_is_named, sharp_needs_doca, none_of_them, no_checkout, harness_builds_and_refuses)])
