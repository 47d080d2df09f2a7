# SPDX-License-Identifier: BSD-2-Clause
"""container_test.py: the image of packaging/container is built from nothing, and docs/containers.md is done with it.

No registry is asked: what the recipe begins with is a Debian 12 made by mmdebstrap. Images lie in a folder of the test's own.
"""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tidy"))
import run
import tap
from tree import Skip

RECIPE = run.ROOT / "packaging/container/Containerfile"
BASE = "localhost/debian-made-here"
# Limits within those that the test itself has.
RUN = ("run", "--rm", "--ulimit=nproc=1000:1000")
# Loopback and nothing else.
ALONE = "--network=none"
SHORT_DEMO = "demo --plain --ranks 4 --steps 30 --script t1 --no-tcp --data /usr/share/common-licenses/GPL-3 --out /tmp/result.json"
# Twice the prolog, as two jobs of one node have it, then an ordinary user's programs. A container has no folder of devices.
PROLOG = """
env -i sh -e /scripts/prolog
env -i sh -e /scripts/prolog
cat /sys/class/infiniband/mrc0/ports/1/state
user="setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs"
$user mrc run --no-views -- ib_write_bw -n 100 >/dev/null &
for i in $(seq 100); do
	! $user mrc run --no-views -- ib_write_bw -n 100 127.0.0.1 || break
	sleep 0.3
done
wait $!
env -i PATH=$PATH sh -e /scripts/epilog
test ! -e /sys/class/infiniband/mrc0
test ! -e /run/softmrc/view
echo gone
"""
PASSED = re.compile(r"^PASS +all \d+ checks", re.M)
BUILD_SECONDS = 3600
RUN_SECONDS = 600


def call(command, seconds=RUN_SECONDS, words=None):
    """All that a command says; it fails by what it said last."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          check=False, timeout=seconds)
    assert done.returncode == 0, f"{' '.join(map(str, words or command))}: status {done.returncode}: {done.stdout[-3000:]}"
    return done.stdout


def page():
    return (run.ROOT / "docs/containers.md").read_text(encoding="utf-8")


def scripts():
    """The shell scripts of the page, as they would be copied from there."""
    return ["#!/bin/sh\n" + textwrap.dedent(text) for text in re.findall(r"^    #!/bin/sh\n((?:    .*\n)+)", page(), re.M)]


def pod():
    """The pod of the page."""
    text = re.search(r"^```yaml\n(.*?)^```$", page(), re.M | re.S)[1]
    # Parts that are named and used twice are each their own afterwards.
    return json.loads(json.dumps(yaml.safe_load(text)))


def lost(ours, theirs, at=""):
    """What of one description is not in the other."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return [words for key in ours for words in lost(ours[key], theirs.get(key), f"{at}.{key}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [words for i, one in enumerate(ours) for words in lost(one, theirs[i], f"{at}[{i}]")]
    return [] if ours == theirs else [f"{at}: {ours} is {theirs} to kubectl"]


def is_known_to_kubectl():
    """A key that a Pod does not have is lost on the way through kubectl's own type of it."""
    if not shutil.which("kubectl"):
        raise Skip("needs kubectl (kubernetes-client)")
    ours = pod()
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(ours, file)
        file.flush()
        # It says nothing of what it does not change.
        worker = ours["spec"]["containers"][0]
        worker["image"] += ":changed"
        done = subprocess.run(
            ["kubectl", "set", "image", "--local", "-f", file.name, f"{worker['name']}={worker['image']}", "-o", "json"],
            capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return lost(ours, json.loads(done.stdout))


class Pod:
    """The words of podman for each container of a pod; a key of which it does not know what to do is an error."""

    def __init__(self, folder):
        self.folder = folder
        spec = pod()["spec"]
        own = spec.pop("securityContext")
        assert own.pop("runAsNonRoot") and own["runAsUser"] != 0
        # Kubernetes leaves the group that an image has, root's, and gives volumes to fsGroup.
        self.rights = (f"--user={own.pop('runAsUser')}:0", f"--group-add={own['fsGroup']}")
        self.group = own.pop("fsGroup")
        self.volumes = {volume.pop("name"): self.volume(volume) for volume in spec.pop("volumes")}
        self.first, = (self.words(one) for one in spec.pop("initContainers"))
        self.worker, = (self.words(one) for one in spec.pop("containers"))
        assert not own and not spec, (own, spec)

    def volume(self, described):
        if described == {"emptyDir": {}}:
            folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
            os.chown(folder, 0, self.group)
            folder.chmod(0o2777)
            return folder
        (kind, where), = described.items()
        assert kind == "hostPath" and where.pop("type") == "CharDevice", described
        return pathlib.Path(where["path"])

    def words(self, one):
        """In front of the image's name, and behind it."""
        context = one.pop("securityContext")
        assert context.pop("allowPrivilegeEscalation") is False
        (what, names), = context.pop("capabilities").items()
        assert what == "drop" and not context, context
        words = [*self.rights, "--security-opt=no-new-privileges", *(f"--cap-drop={name.lower()}" for name in names)]
        for mount in one.pop("volumeMounts"):
            source = self.volumes[mount.pop("name")] / mount.pop("subPath", "")
            words.append(f"--volume={source}:{mount.pop('mountPath')}:{'ro' if mount.pop('readOnly', False) else 'rw'}")
            assert not mount, mount
        arguments = one.pop("args")
        image = one.pop("image")
        one.pop("name")
        assert not one, one
        return words, image, arguments


class Images:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="softmrc-images-"))
        self.store = ("--root", self.folder / "store", "--runroot", self.folder / "run", "--storage-driver=vfs")
        self.built = self.runs = False

    def buildah(self, *words, seconds=RUN_SECONDS):
        return call(["buildah", *self.store, *words], seconds).strip()

    def command(self, *words):
        files = f"--ulimit=nofile={min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1])}"
        return ["podman", *self.store, "--cgroup-manager=cgroupfs", "--runtime=runc", *RUN, files, *words]

    def podman(self, *words):
        return call(self.command(*words), words=words)

    def make_base(self):
        archive = self.folder / "root.tar"
        # apt has no user of its own to become, where user namespaces or capabilities are few.
        call(["mmdebstrap", "--quiet", "--variant=minbase", "--aptopt=APT::Sandbox::User \"root\"", "bookworm", archive], BUILD_SECONDS)
        container = self.buildah("from", "scratch")
        self.buildah("add", container, archive, "/")
        self.buildah("commit", "--rm", container, BASE)
        archive.unlink()

    def builds(self):
        """The recipe of this tree, from a bare Debian 12 to an image."""
        if os.geteuid() or not all(map(shutil.which, ("mmdebstrap", "buildah"))):
            raise Skip("needs root, mmdebstrap and buildah")
        self.make_base()
        self.buildah("bud", "--isolation=chroot", "--layers=false", f"--build-arg=BASE={BASE}", "-t", "softmrc", "-f", RECIPE, run.ROOT,
                     seconds=BUILD_SECONDS)
        self.built = True

    def can_run(self):
        if not self.built:
            raise Skip("there is no image")
        if not all(map(shutil.which, ("podman", "runc"))):
            raise Skip("needs podman and runc")

    def says_its_release(self):
        """An image runs at all. Namespaces may be wanting, as in a container that may not have any."""
        self.can_run()
        try:
            said = self.podman(ALONE, "softmrc", "--version")
        except AssertionError as why:
            if "operation not permitted" in str(why).lower():
                raise Skip(f"podman may not run containers here: {str(why)[-200:].strip()}") from why
            raise
        self.runs = True
        version = re.search(r"^set\(SOFTMRC_VERSION (\S+)\)", (run.ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.M)[1]
        assert version in said, said

    def running(self, *words):
        self.can_run()
        if not self.runs:
            raise Skip("no image was run")
        return self.podman(ALONE, *words)

    def demo(self):
        """What the image does unasked, with the rights that the page says: the whole demo on a lab."""
        said = self.running("--privileged", "softmrc")
        assert PASSED.search(said) and "no lab" not in said, said[-2000:]

    def demo_without_rights(self):
        said = self.running("softmrc", *SHORT_DEMO.split())
        assert PASSED.search(said) and "no lab: network namespaces" in said, said[-2000:]

    def other_verbs(self):
        """Those of the page."""
        verbs = re.findall(r"^    podman run --rm softmrc (.*)$", page(), re.M)
        assert len(verbs) >= 2, verbs
        for verb in verbs:
            self.running("softmrc", *verb.split())

    def pod(self):
        """The pod's containers with the rights that it gives them, the worker a second time as the peer of the first."""
        self.running("softmrc", "--version")
        both = Pod(self.folder)
        words, image, arguments = both.first
        self.podman(ALONE, *words, image, *arguments)
        words, image, arguments = both.worker
        seen = self.podman(ALONE, *words, "--entrypoint=sh", image, "-c",
                           "id -u; cat /sys/class/infiniband/mrc0/ports/1/state; ls /sys/class/net; test -c /dev/infiniband/uverbs0 && echo node")
        assert seen.split() == ["1000", "4:", "ACTIVE", "lo", "node"], seen
        with subprocess.Popen(self.command(ALONE, "--name=worker", *words, image, *arguments), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
            try:
                self.meet("worker", arguments)
                assert server.wait(RUN_SECONDS) == 0, server.stdout.read()
            finally:
                # The container does not end with the podman that waits for it.
                call(["podman", *self.store, "--runtime=runc", "rm", "--force", "--ignore", "worker"])
                server.kill()

    def meet(self, name, arguments):
        """The program of a container, once more inside it and with the address of the first, which takes its time to begin."""
        until = time.monotonic() + RUN_SECONDS
        while True:
            try:
                said = call(["podman", *self.store, "--runtime=runc", "exec", name, "mrc", *arguments, "127.0.0.1"])
            except AssertionError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.5)
                continue
            assert "BW average" in said, said
            return

    def prolog(self):
        """The scripts of a cluster whose nodes have no user namespaces: the view is there for all, and is gone again."""
        prolog, epilog = scripts()
        (self.folder / "prolog").write_text(prolog)
        (self.folder / "epilog").write_text(epilog)
        said = self.running("--privileged", f"--volume={self.folder}:/scripts:ro", "--entrypoint=sh", "softmrc", "-euxc", PROLOG)
        assert said.split().count("ACTIVE") == 1 and said.rstrip().endswith("gone"), said


def main():
    images = Images()
    names = ("builds", "says_its_release", "demo", "demo_without_rights", "other_verbs", "pod", "prolog")
    cases = [(f"container__{name}", lambda name=name: getattr(images, name)() or []) for name in names]
    try:
        status = tap.run([("container__is_known_to_kubectl", is_known_to_kubectl), *cases])
    finally:
        shutil.rmtree(images.folder, ignore_errors=True)
    sys.exit(status)


if __name__ == "__main__":
    main()
