# SPDX-License-Identifier: BSD-2-Clause
"""softmrc - mrc.h for Python: a device, registered memory, QPs, RDMA WRITEs, completions, counters.

    import socket, softmrc

    with softmrc.Device() as device:
        memory, cq = device.memory(1 << 20), device.cq(64)
        qp = device.qp(cq)
        peer = qp.meet(connected_socket, memory)           # the other end does the same
        qp.receive()                                       # one for each immediate to come
        qp.sync(connected_socket)
        memory.view[:5] = b"hello"
        qp.write(memory, peer, length=5, immediate=7)
        for done in cq.wait(2):
            print(done.opcode, done.immediate)

It needs cffi (Debian's python3-cffi) and no compiler: layouts are written down below, and a test compares them with the
headers. Libraries are those beside this file, or what SOFTMRC_LIBDIR names. Calls that wait let other threads run.
What fails raises Error, an OSError with the errno of the call and its name.
"""
import collections
import os
import pathlib
import select
import struct
import time

import cffi

__all__ = ["Completion", "Cq", "Device", "Error", "Memory", "Peer", "Qp", "devices"]

ffi = cffi.FFI()
ffi.cdef("""
struct ibv_device;
struct ibv_context;
struct ibv_pd;
struct ibv_mr {
    struct ibv_context *context; struct ibv_pd *pd; void *addr; size_t length;
    uint32_t handle, lkey, rkey;
};
struct ibv_sge { uint64_t addr; uint32_t length, lkey; };
struct ibv_qp_cap { uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data; };
struct ibv_send_wr {
    uint64_t wr_id; struct ibv_send_wr *next; struct ibv_sge *sg_list;
    int num_sge; int opcode; unsigned int send_flags; uint32_t imm_data;
    uint64_t remote_addr; uint32_t rkey;
    uint64_t unused[9];
};
struct ibv_recv_wr { uint64_t wr_id; struct ibv_recv_wr *next; struct ibv_sge *sg_list; int num_sge; };
struct ibv_wc {
    uint64_t wr_id; int status; int opcode; uint32_t vendor_err, byte_len, imm_data, qp_num, src_qp;
    unsigned int wc_flags; uint16_t pkey_index, slid; uint8_t sl, dlid_path_bits;
};
struct mrc_context;
struct mrc_cq;
struct mrc_qp;
struct mrc_comp_channel;
struct mrc_qp_init_attr {
    void *qp_context; struct mrc_cq *send_cq, *recv_cq; struct ibv_qp_cap cap;
    int sq_sig_all; struct ibv_pd *pd; uint64_t send_ops_flags; int protocol_version;
};
struct mrc_meet_end {
    uint8_t gid[16]; uint32_t qpn, psn; uint8_t mtu, mpr_dest; uint16_t max_wimm_dest;
    uint32_t rkey; uint64_t address, bytes;
};

struct ibv_device **ibv_get_device_list(int *n);
void ibv_free_device_list(struct ibv_device **list);
const char *ibv_get_device_name(struct ibv_device *device);
struct ibv_context *ibv_open_device(struct ibv_device *device);
int ibv_close_device(struct ibv_context *context);
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context);
int ibv_dealloc_pd(struct ibv_pd *pd);
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access);
int ibv_dereg_mr(struct ibv_mr *mr);
const char *ibv_wc_status_str(int status);

struct mrc_context *mrc_create_context(struct ibv_context *context, void *attr);
int mrc_destroy_context(struct mrc_context *context);
int mrc_create_comp_channel(struct mrc_context *context, struct mrc_comp_channel **channel);
int mrc_get_comp_channel_fd(struct mrc_comp_channel *channel, int *fd);
int mrc_destroy_comp_channel(struct mrc_comp_channel *channel);
struct mrc_cq *mrc_create_cq(struct mrc_context *context, int cqe, void *of_caller,
                             struct mrc_comp_channel *channel, int comp_vector);
int mrc_poll_cq(struct mrc_cq *cq, int n, struct ibv_wc *wc);
int mrc_req_notify_cq(struct mrc_cq *cq, int solicited_only);
int mrc_get_cq_event(struct mrc_comp_channel *channel, struct mrc_cq **cq, void **of_caller);
void mrc_ack_cq_events(struct mrc_cq *cq, unsigned int n);
int mrc_destroy_cq(struct mrc_cq *cq);
struct mrc_qp *mrc_create_qp(struct mrc_context *context, struct mrc_qp_init_attr *attr);
int mrc_destroy_qp(struct mrc_qp *qp);
int mrc_get_qpn(struct mrc_qp *qp, uint32_t *qpn);
int mrc_post_recv(struct mrc_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int mrc_post_send(struct mrc_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int mrc_meet(struct mrc_qp *qp, const struct ibv_mr *mr, int in_fd, int out_fd, int timeout_ms,
             struct mrc_meet_end *theirs);
int mrc_meet_sync(int in_fd, int out_fd, int timeout_ms);
""")

# Values of the two headers; the test compares them.
IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_WRITE = 1, 2
IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM = 0, 1
IBV_SEND_SIGNALED = 2
IBV_WC_RDMA_WRITE, IBV_WC_RECV_RDMA_WITH_IMM = 1, 129
# Of mrc/stats.h: what stands before the counters, and one of these.
MRC_STATS_VERSION, MRC_STATS_COUNTERS = 9, 128
STATS_HEAD, STATS_COUNTER = struct.Struct("<8sIIQQ16sII"), struct.Struct("<32sQ")

OPCODES = {IBV_WC_RDMA_WRITE: "write", IBV_WC_RECV_RDMA_WITH_IMM: "receive"}
U32, U64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


class Error(OSError):
    """A call failed; errno says why, the text also which call."""


# What the peer said of itself: where it may be written to.
Peer = collections.namedtuple("Peer", "qpn address bytes rkey")
# wr_id as given; status "success", or why not, then the rest is None. opcode "write" or "receive".
Completion = collections.namedtuple("Completion", "wr_id status opcode bytes immediate qpn")


def _libraries():
    """libibverbs with the device, and libmrc: beside this file as built and as installed."""
    here = pathlib.Path(__file__).absolute().parent
    folder = pathlib.Path(os.environ.get("SOFTMRC_LIBDIR") or here.parent.parent)
    opened = []
    for path in (folder / "softmrc/libibverbs.so.1", folder / "libmrc.so.1"):
        try:
            opened.append(ffi.dlopen(str(path)))
        except OSError as error:
            raise ImportError(f"softmrc: {path} cannot be loaded: {error}; SOFTMRC_LIBDIR names another folder") from None
    return opened


_verbs, _mrc = _libraries()


def _fail(call, number=None):
    number = ffi.errno if number is None else number
    raise Error(number, f"{call}: {os.strerror(number)}")


def _made(call, pointer):
    return pointer if pointer != ffi.NULL else _fail(call)


def _number(name, value, low, high):
    if not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{name}={value!r}: want a number from {low} to {high}")
    return value


def _milliseconds(timeout):
    """Seconds as mrc_meet wants them; None: for ever."""
    return -1 if timeout is None else _number("timeout in ms", int(timeout * 1000), 0, 0x7FFFFFFF)


def _descriptors(way):
    """A socket or another file, or a pair of them: to read from, to write to."""
    one, other = way if isinstance(way, tuple) else (way, way)
    return tuple(end if isinstance(end, int) else end.fileno() for end in (one, other))


def devices():
    """The names of the devices."""
    n = ffi.new("int *")
    found = _made("ibv_get_device_list", _verbs.ibv_get_device_list(n))
    try:
        return [ffi.string(_verbs.ibv_get_device_name(found[i])).decode() for i in range(n[0])]
    finally:
        _verbs.ibv_free_device_list(found)


class _Object:
    """Something of a device, which is closed by hand or with the device, and is of no use then."""

    def __init__(self, device, pointer, call, close):
        self._device, self._pointer, self._call, self._close = device, pointer, call, close
        device._objects.append(self)

    def _open(self):
        if self._pointer is None:
            raise ValueError(f"this {type(self).__name__} is closed")
        return self._pointer

    def close(self):
        """Closes it; EBUSY where something that was made from it is open."""
        if self._pointer is None:
            return
        number = self._close(self._pointer)
        if number:
            _fail(self._call, number if number > 0 else None)
        self._pointer = None
        self._device._objects.remove(self)


class Device:
    """An open device, of a name or the first one, and all that is made on it."""

    def __init__(self, name=None):
        self._objects, self._context, self._pd, self._verbs = [], None, None, None
        self.name = self._open_device(name)
        try:
            self._pd = _made("ibv_alloc_pd", _verbs.ibv_alloc_pd(self._verbs))
            self._context = _made("mrc_create_context", _mrc.mrc_create_context(self._verbs, ffi.NULL))
        except Error:
            self.close()
            raise

    def _open_device(self, name):
        n = ffi.new("int *")
        found = _made("ibv_get_device_list", _verbs.ibv_get_device_list(n))
        try:
            names = [ffi.string(_verbs.ibv_get_device_name(found[i])).decode() for i in range(n[0])]
            if not names or name not in (None, *names):
                raise ValueError(f"name={name!r}: want one of {', '.join(names) or 'none, for there are no devices'}")
            at = names.index(name) if name else 0
            self._verbs = _made("ibv_open_device", _verbs.ibv_open_device(found[at]))
            return names[at]
        finally:
            _verbs.ibv_free_device_list(found)

    def _opened(self):
        if self._context is None:
            raise ValueError("this Device is closed")
        return self._context

    def memory(self, size):
        """So many bytes, zeroed and registered: for this end to send from, for the peer to write to."""
        return Memory(self, size)

    def cq(self, entries):
        """A completion queue, for all WRs that can be under way at once on its QPs."""
        return Cq(self, entries)

    def qp(self, cq, sends=16, receives=16):
        """A QP whose sends and receives complete in cq."""
        return Qp(self, cq, sends, receives)

    def counters(self):
        """The counters of this process by name (docs/metrics.md), 50 ms old at most while packets flow."""
        folder = os.environ.get("MRC_STATS_DIR") or f"/dev/shm/softmrc-{os.geteuid()}"
        path = pathlib.Path(folder, f"{os.getpid()}.mrcstats")
        data = path.read_bytes()
        magic, version, *_ = STATS_HEAD.unpack_from(data)
        if magic != b"MRCSTATS" or version != MRC_STATS_VERSION:
            raise ValueError(f"{path}: version {version}: want {MRC_STATS_VERSION}")
        entries = (STATS_COUNTER.unpack_from(data, STATS_HEAD.size + i * STATS_COUNTER.size)
                   for i in range(MRC_STATS_COUNTERS))
        return {name.rstrip(b"\0").decode(): value for name, value in entries if name[0]}

    def close(self):
        """Closes all that was made on it, the newest first, and then itself."""
        for made in reversed(list(self._objects)):
            made.close()
        if self._context is not None and _mrc.mrc_destroy_context(self._context):
            _fail("mrc_destroy_context")
        self._context = None
        if self._pd is not None:
            _verbs.ibv_dealloc_pd(self._pd)
        self._pd = None
        if self._verbs is not None:
            _verbs.ibv_close_device(self._verbs)
        self._verbs = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Memory(_Object):
    """Registered memory; view is a memoryview of its bytes."""

    def __init__(self, device, size):
        device._opened()
        self.size = _number("size", size, 1, 1 << 40)
        self._bytes = ffi.new("uint8_t[]", size)
        mr = _made("ibv_reg_mr", _verbs.ibv_reg_mr(device._pd, self._bytes, size,
                                                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))
        super().__init__(device, mr, "ibv_dereg_mr", _verbs.ibv_dereg_mr)
        self.view = memoryview(ffi.buffer(self._bytes))
        self.address, self.rkey = int(ffi.cast("uintptr_t", self._bytes)), mr.rkey


class Cq(_Object):
    """Completions, and a descriptor that says when there are some; for one thread at a time."""

    BATCH = 64

    def __init__(self, device, entries):
        _number("entries", entries, 1, 1 << 24)
        channel = ffi.new("struct mrc_comp_channel **")
        number = _mrc.mrc_create_comp_channel(device._opened(), channel)
        if number:
            _fail("mrc_create_comp_channel", number)
        self._channel, fd = channel[0], ffi.new("int *")
        _mrc.mrc_get_comp_channel_fd(self._channel, fd)
        self._fd = fd[0]
        cq = _mrc.mrc_create_cq(device._opened(), entries, ffi.NULL, self._channel, 0)
        if cq == ffi.NULL:
            number = ffi.errno
            _mrc.mrc_destroy_comp_channel(self._channel)
            _fail("mrc_create_cq", number)
        self._wc = ffi.new("struct ibv_wc[]", self.BATCH)
        super().__init__(device, cq, "mrc_destroy_cq", self._destroy)

    def _destroy(self, cq):
        number = _mrc.mrc_destroy_cq(cq)
        return number or _mrc.mrc_destroy_comp_channel(self._channel)

    def poll(self):
        """What is complete now, the oldest first."""
        n = _mrc.mrc_poll_cq(self._open(), self.BATCH, self._wc)
        if n < 0:
            _fail("mrc_poll_cq")
        return [self._completion(self._wc[i]) for i in range(n)]

    @staticmethod
    def _completion(wc):
        if wc.status:
            said = ffi.string(_verbs.ibv_wc_status_str(wc.status)).decode()
            return Completion(wc.wr_id, said, None, None, None, wc.qp_num)
        receive = wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM
        number = int.from_bytes(struct.pack("=I", wc.imm_data), "big") if receive else None
        return Completion(wc.wr_id, "success", OPCODES[wc.opcode], wc.byte_len if receive else None, number, wc.qp_num)

    def wait(self, n=1, timeout=None):
        """At least n completions; TimeoutError after so many seconds, and those that came are in its `done`."""
        end = None if timeout is None else time.monotonic() + timeout
        done = self.poll()
        while len(done) < n:
            number = _mrc.mrc_req_notify_cq(self._open(), 0)
            if number:
                _fail("mrc_req_notify_cq", number)
            # One that came before the request makes no event.
            more = self.poll()
            done += more
            if not more:
                self._sleep(end, n, done)
        return done

    def _sleep(self, end, n, done):
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        if not poll.poll(None if end is None else max(0, end - time.monotonic()) * 1000):
            error = TimeoutError(f"{len(done)} of {n} completions came in time")
            error.done = done
            raise error
        cq, of_caller = ffi.new("struct mrc_cq **"), ffi.new("void **")
        if _mrc.mrc_get_cq_event(self._channel, cq, of_caller):
            _fail("mrc_get_cq_event")
        _mrc.mrc_ack_cq_events(cq[0], 1)


class Qp(_Object):
    """A queue pair: meet() connects it, write() and receive() use it."""

    def __init__(self, device, cq, sends, receives):
        attr = ffi.new("struct mrc_qp_init_attr *")
        attr.send_cq = attr.recv_cq = cq._open()
        attr.pd = device._pd
        attr.cap.max_send_wr = _number("sends", sends, 1, U32)
        attr.cap.max_recv_wr = _number("receives", receives, 0, U32)
        attr.cap.max_send_sge = 1
        qp = _made("mrc_create_qp", _mrc.mrc_create_qp(device._opened(), attr))
        super().__init__(device, qp, "mrc_destroy_qp", _mrc.mrc_destroy_qp)
        qpn = ffi.new("uint32_t *")
        _mrc.mrc_get_qpn(qp, qpn)
        self.qpn = qpn[0]

    def meet(self, way, memory=None, timeout=10.0):
        """Connects to the QP whose owner calls meet() at the other end of a socket or a pair of files, and offers it memory."""
        read, write = _descriptors(way)
        mr, theirs = memory._open() if memory else ffi.NULL, ffi.new("struct mrc_meet_end *")
        number = _mrc.mrc_meet(self._open(), mr, read, write, _milliseconds(timeout), theirs)
        if number:
            _fail("mrc_meet", number)
        return Peer(theirs.qpn, theirs.address, theirs.bytes, theirs.rkey)

    def sync(self, way, timeout=10.0):
        """Returns when the other end has called it, too: after receives were posted, before the end."""
        number = _mrc.mrc_meet_sync(*_descriptors(way), _milliseconds(timeout))
        if number:
            _fail("mrc_meet_sync", number)

    def receive(self, wr_id=0):
        """Posts a receive, which one immediate uses up."""
        wr, bad = ffi.new("struct ibv_recv_wr *"), ffi.new("struct ibv_recv_wr **")
        wr.wr_id = _number("wr_id", wr_id, 0, U64)
        if _mrc.mrc_post_recv(self._open(), wr, bad):
            _fail("mrc_post_recv")

    def write(self, memory, peer, offset=0, length=None, at=0, immediate=None, wr_id=0):
        """Posts a WRITE of memory[offset:offset+length] to byte `at` of the peer's memory.

        What lies there may be changed once its completion has come.
        """
        sge, wr, bad = ffi.new("struct ibv_sge *"), ffi.new("struct ibv_send_wr *"), ffi.new("struct ibv_send_wr **")
        mr = memory._open()
        _number("offset", offset, 0, memory.size)
        sge.length = _number("length", memory.size - offset if length is None else length, 0, min(memory.size - offset, U32))
        sge.addr, sge.lkey = memory.address + offset, mr.lkey
        wr.wr_id, wr.sg_list, wr.num_sge = _number("wr_id", wr_id, 0, U64), sge, 1
        wr.send_flags, wr.opcode = IBV_SEND_SIGNALED, IBV_WR_RDMA_WRITE
        if immediate is not None:
            wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM
            wr.imm_data = struct.unpack("=I", _number("immediate", immediate, 0, U32).to_bytes(4, "big"))[0]
        wr.remote_addr = (peer.address + _number("at", at, 0, U64)) & U64
        wr.rkey = peer.rkey
        number = _mrc.mrc_post_send(self._open(), wr, bad)
        if number:
            _fail("mrc_post_send", number)
