# PSNs from before the connection began, a packet of an earlier life: dropped in silence, counted.
# REQ(rsp.window.ancient)
config peer_psn 100

< WRITE ONLY psn 99 len 4 rtx ackreq
< WRITE ONLY psn 8388709 len 4 rtx                   # 2^23 + 1 ahead, that is: as far behind as can be
expect nothing for 1ms
expect stat drop_old_psn 2
expect placed nothing
