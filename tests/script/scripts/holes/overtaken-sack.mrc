# A SACK that was overtaken by a newer one creates no false hole: it reports 101 as missing, but a
# newer SACK has already said that 101 arrived.
# REQ(req.loss.accumulate) REQ(req.loss.explicit)
config evs 4 gap 5us

ignore PROBE
post write 4096 bytes id 1
> WRITE FIRST psn 100
+5us > WRITE MIDDLE psn 101 ev B
+5us > WRITE MIDDLE psn 102
+5us > WRITE LAST psn 103
+10us < SACK cack 103                                  # the newer one comes first
+1us < SACK cack 100 map 0b10 trigger 102              # made before 101 arrived
expect nothing for 100us
expect ev B GOOD
< ACK msn 1
expect completion id 1 success
