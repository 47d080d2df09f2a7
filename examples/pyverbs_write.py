# SPDX-License-Identifier: BSD-2-Clause
"""pyverbs_write.py - one RDMA WRITE from a QP to another of this process, with Debian's python3-pyverbs.

    mrc run --report -- /usr/bin/python3 pyverbs_write.py
"""
from pyverbs import enums as e
from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR

RIGHTS = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE
TEXT = "over every plane"

context = Context(name=get_device_list()[0].name.decode())
pd, cq = PD(context), CQ(context, 16)
source, sink = MR(pd, 4096, RIGHTS), MR(pd, 4096, RIGHTS)
room = QPCap(max_send_wr=4, max_recv_wr=4, max_send_sge=1, max_recv_sge=1)
qps = [QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=room)) for _ in range(2)]

for qp, peer in (qps, qps[::-1]):
    attr = QPAttr(port_num=1)
    attr.dest_qp_num, attr.path_mtu, attr.qp_access_flags = peer.qp_num, e.IBV_MTU_4096, RIGHTS
    attr.max_rd_atomic = attr.max_dest_rd_atomic = 1
    attr.min_rnr_timer, attr.timeout, attr.retry_cnt, attr.rnr_retry = 12, 14, 7, 7
    attr.ah_attr = AHAttr(port_num=1, is_global=1, gr=GlobalRoute(dgid=context.query_gid(1, 0), sgid_index=0))
    qp.to_rts(attr)

source.write(TEXT, len(TEXT))
wr = SendWR(opcode=e.IBV_WR_RDMA_WRITE, num_sge=1, sg=[SGE(source.buf, len(TEXT), source.lkey)],
            send_flags=e.IBV_SEND_SIGNALED)
wr.set_wr_rdma(sink.rkey, sink.buf)
qps[0].post_send(wr)
found = 0
while found == 0:
    found, done = cq.poll()
assert done[0].status == e.IBV_WC_SUCCESS, done[0]
print(f"{context.name}: {sink.read(len(TEXT), 0).decode()}")
