# Packets for QPs that do not exist, one with the same low bits as ours. REQ(rsp.qp.demux)
config evs 4

< WRITE ONLY psn 100 len 8 dqp 0x105
< WRITE ONLY psn 100 len 8 dqp 0
< ACK msn 1 dqp 0xffffff
expect nothing
expect stat drop_no_qp 3
expect placed nothing
