# SPDX-License-Identifier: BSD-2-Clause
"""Programs written for MRC: which of them a checkout is, which version, and how it is built against softmrc, outside of
the tree. Nothing of theirs is kept here; what they need and a machine may lack is in this folder."""
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Refused(Exception):
    """The checkout is not something that is known here; the text says what it is."""


class Skip(Exception):
    """It is known and cannot be tried here; the text says why."""


def _read(path):
    return path.read_text(errors="replace") if path.exists() else ""


def _numbers(path, prefix):
    """MAJOR.MINOR.PATCH of three macros, or "" ."""
    found = dict(re.findall(rf"#define\s+{prefix}_(MAJOR|MINOR|PATCH)\s+(\d+)", _read(path)))
    return ".".join(found[key] for key in ("MAJOR", "MINOR", "PATCH")) if len(found) == 3 else ""


def _commit(checkout):
    done = subprocess.run(["git", "-C", checkout, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True,
                          check=False)
    return f"commit {done.stdout.strip()}" if done.returncode == 0 else "not a checkout of git"


def _need(*programs):
    missing = [name for name in programs if not shutil.which(name)]
    if missing:
        raise Skip(f"not installed: {', '.join(missing)}")


class Program:
    """A checkout of a program; known are the versions that were tried."""
    name, known, makes = "", (), ""

    def __init__(self, checkout):
        self.checkout = pathlib.Path(checkout).resolve()
        self.version, self.commit = self.find_version(), _commit(checkout)
        if self.version not in self.known:
            raise Refused(f"{checkout} is {self}; known here: {', '.join(self.known)}")

    def __str__(self):
        return f"{self.name} {self.version or 'of unknown version'} ({self.commit})"

    def copy(self, folder):
        """The sources in a folder of their own, so that nothing is written into the checkout."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.checkout, folder, ignore=shutil.ignore_patterns(".git"))
        return folder

    def make(self, folder, *words, **env):
        _need("make", "cc")
        done = subprocess.run(["make", "-C", folder, *words], capture_output=True, text=True, check=False,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", **env})
        if done.returncode or not (folder / self.makes).exists():
            raise RuntimeError(f"{self} does not build:\n{(done.stdout + done.stderr)[-3000:]}")
        return folder / self.makes


class NcclPlugin(Program):
    """microsoft/mrc-nccl-plugin: NCCL's network interface, versions 6 to 11, on mrc.h."""
    name, known, makes = "mrc-nccl-plugin", ("0.1.1",), "libnccl-net-mrc.so"
    # struct mrc_attr is a name of headers before OCP's; Debian's libmlx5 is older than the two functions.
    FLAGS = ("-Dmrc_attr=mrc_device_attr -DHAVE_DECL_MLX5DV_REG_DMABUF_MR=0 "
             "-DHAVE_DECL_MLX5DV_GET_DATA_DIRECT_SYSFS_PATH=0")

    @staticmethod
    def is_here(checkout):
        return (checkout / "src/net_mrc_plugin.c").exists() and (checkout / "src/p2p_plugin.c").exists()

    def find_version(self):
        return _numbers(self.checkout / "include/version.h", "MRC_NCCL_PLUGIN_VERSION")

    def build(self, folder):
        lib = ROOT / "build/lib"
        return self.make(self.copy(folder), f"NCCL_HOME={HERE}", f"MRC_HOME={ROOT}", f"MRC_LIBDIR={lib}",
                         CPPFLAGS=f"{self.FLAGS} -I{HERE}")


class VerbsShim(Program):
    """microsoft/mrc-verbs-shim-lib: a libibverbs.so that makes MRC QPs of RC QPs, over any libmrc."""
    name, known, makes = "mrc-verbs-shim-lib", ("with OCP's mrc.h",), "build/lib/libibverbs.so"

    @staticmethod
    def is_here(checkout):
        return (checkout / "src/vmrc_ibv_overwrites.c").exists() and (checkout / "src/vmrc_symbols.c").exists()

    def find_version(self):
        """Of several generations the newest asks as OCP's header has it; older ones bring their EVs along, by functions
        that no OCP library has."""
        calls = re.sub(r"\s+", " ", _read(self.checkout / "src/include/vmrc_symbols.h"))
        asks = re.search(r"mrc_query_device_internal\)\(struct ibv_context \*\s?context, struct \w+ \*\s?attr, int \*", calls)
        return "with OCP's mrc.h" if asks and "mrc_create_qp_hint_internal" in calls else "of before OCP's mrc.h"

    def build(self, folder):
        self.copy(folder)
        return self.make(folder, f"{folder}/{self.makes}", f"MRC_H_PATH={ROOT}/include", f"BUILDDIR={folder}/build",
                         CFLAGS="-fPIC -Dmrc_attr=mrc_device_attr")


class Nccl(Program):
    """NVIDIA/nccl: its transport over verbs, taken out of it with the table of functions by which the rest of it calls."""
    name, makes = "nccl", "libnccl-net-ib.so"
    known = ("2.21.5", "2.24.3", "2.26.6", "2.27.7", "2.28.3", "2.29.7", "2.30.7")
    PARTS = ("transport/net_ib.cc", "transport/net_ib/*.cc", "misc/ibvsymbols.cc", "misc/ibvwrap.cc", "misc/mlx5dv*.cc",
             "misc/param.cc", "misc/socket.cc", "misc/utils.cc", "os/linux.cc")

    @staticmethod
    def is_here(checkout):
        return (checkout / "makefiles/version.mk").exists() and (checkout / "src/transport").is_dir()

    def find_version(self):
        found = dict(re.findall(r"^NCCL_(MAJOR|MINOR|PATCH)\s*:=\s*(\d+)", _read(self.checkout / "makefiles/version.mk"), re.M))
        return ".".join(found[key] for key in ("MAJOR", "MINOR", "PATCH")) if len(found) == 3 else ""

    def interface(self):
        """The version of the table that the transport has."""
        headers = ("src/include/plugin/nccl_net.h", "src/include/nccl_net.h")
        found = [re.search(r"typedef\s+ncclNet_v(\d+)_t\s+ncclNet_t;", _read(self.checkout / name)) for name in headers]
        versions = [int(match[1]) for match in found if match]
        if not versions:
            raise RuntimeError(f"{self}: {' and '.join(headers)} do not say which table ncclNet_t is")
        return versions[0]

    def has(self, setting):
        """Whether the transport knows a setting of this name."""
        return any(setting in _read(path) for path in self.parts())

    def parts(self):
        """The source files; operations that a GPU starts by itself are none of the table's."""
        found = [path for part in self.PARTS for path in sorted((self.checkout / "src").glob(part))]
        return [path for path in found if path.name != "gin.cc"] + [HERE / "nccl/host.cc"]

    def build(self, folder):
        """Compiles the parts where they are, and leaves the library alone in the folder."""
        _need("g++")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        source, made = self.checkout / "src", folder / self.makes
        places = [HERE / "nccl", HERE, source / "include", source / "include/plugin", source / "transport/net_ib"]
        begin = ["g++", "-std=c++17", "-O2", "-fPIC", "-w", "-include", "without_cuda.h", *(f"-I{place}" for place in places)]
        objects = []
        for number, part in enumerate(self.parts()):
            objects.append(folder / f"{number}.o")
            self.compile([*begin, "-c", part, "-o", objects[-1]])
        self.compile(["g++", "-shared", *objects, f"-Wl,--defsym=ncclNetPlugin_v{self.interface()}=ncclNetIb", "-Wl,-z,defs",
                      "-ldl", "-lpthread", "-o", made])
        return made

    def compile(self, words):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{self} does not build:\n{done.stderr[:3000]}")


class SharpPlugins(Program):
    """A fork of nccl-rdma-sharp-plugins that has a path over libmrc, for NVIDIA's DOCA."""
    name, known = "nccl-rdma-sharp-plugins", ("",)

    @staticmethod
    def is_here(checkout):
        return (checkout / "src/sharp_plugin.c").exists() and (checkout / "configure.ac").exists()

    def find_version(self):
        return ""

    def build(self, _):
        if not (self.checkout / "src/mrc.c").exists():
            raise Skip(f"{self}: this branch has no path over libmrc")
        raise Skip(f"{self}: its path over libmrc needs NVIDIA's DOCA (libdoca_rdma_verbs and its headers)")


PROGRAMS = (NcclPlugin, VerbsShim, Nccl, SharpPlugins)


def recognise(checkout):
    """The Program that a folder is."""
    folder = pathlib.Path(checkout)
    if not folder.is_dir():
        raise Refused(f"{checkout} is no folder")
    for program in PROGRAMS:
        if program.is_here(folder):
            return program(folder)
    raise Refused(f"{checkout} is none of {', '.join(program.name for program in PROGRAMS)}")
