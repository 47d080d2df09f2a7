# A hole in message 0 holds back no packet of message 1, but both completions: they come in order.
# REQ(req.complete.order) REQ(req.rtx.same-packet)
config evs 8 gap 6us

post write 2048 bytes id 1 at 4096
post write 2048 bytes id 2 at 8192
> WRITE FIRST psn 100 msn 0 at 4096
+6us > WRITE LAST psn 101 msn 0 at 5120
+6us > WRITE FIRST psn 102 msn 1 at 8192
+6us > WRITE LAST psn 103 msn 1 at 9216
ignore PROBE
+10us < SACK cack 99 map 0b1110 trigger 103
> WRITE FIRST psn 100 msn 0 at 4096 len 1024 dmalen 2048 rtx
expect nothing for 10us
< SACK cack 103 trigger 100
< ACK msn 2
expect completion id 1..2 success
