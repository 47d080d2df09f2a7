# The answer to a probe tells of holes anywhere: what was sent a reorder window before the probe and is
# missing goes again. REQ(req.probe.tail) REQ(req.loss.explicit)
config evs 8 gap 1us tail_probe 50us min_active 2

post write 4096 bytes id 1
> WRITE FIRST psn 100
+1us > WRITE MIDDLE psn 101..102
+1us > WRITE LAST psn 103
+40us..50us > PROBE probe P
+10us < SACK cack 99 map 0b1010 probe P
> WRITE FIRST psn 100 rtx
+1us > WRITE MIDDLE psn 102 rtx
< SACK cack 103
< ACK msn 1
expect completion id 1 success
