# While nothing is missing, a peer that asks for SACKs before the end of a message gets one after
# sack_in_order_bytes; while a packet is missing, and to a peer that does not ask, after sack_bytes.
# REQ(rsp.sack.in-order) REQ(rsp.sack.trigger.bytes)
config mtu 4096 sack_bytes 8192 sack_in_order_bytes 32768
config tail_probe 10s

< WRITE FIRST psn 100 msn 0 dmalen 1048576
< WRITE MIDDLE psn 101 msn 0 dmalen 1048576
< WRITE MIDDLE psn 102 msn 0 dmalen 1048576       # more than 8192: it has not asked yet
> SACK cack 102 trigger 102
< WRITE MIDDLE psn 103 msn 0 dmalen 1048576 ackreq
> SACK cack 103 trigger 103
< WRITE MIDDLE psn 104..111 msn 0 dmalen 1048576  # 8 x 4096: not more than 32768
expect nothing for 10us
< WRITE MIDDLE psn 112 msn 0 dmalen 1048576
> SACK cack 112 trigger 112
hold
< WRITE MIDDLE psn 114 msn 0 dmalen 1048576       # 113 was overtaken within a burst: that is no hole
< WRITE MIDDLE psn 115..117 msn 0 dmalen 1048576
< WRITE MIDDLE psn 113 msn 0 dmalen 1048576
go
expect nothing for 10us
< WRITE MIDDLE psn 119 msn 0 dmalen 1048576       # 118 is missing for longer
> SACK cack 117 map 0b10 ooo 1 trigger 119
< WRITE MIDDLE psn 120..121 msn 0 dmalen 1048576
expect nothing for 10us
< WRITE MIDDLE psn 122 msn 0 dmalen 1048576
> SACK cack 117 trigger 122
