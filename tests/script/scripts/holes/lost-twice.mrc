# The retransmission is lost, too: a SACK triggered by a packet sent a reorder window after it says so;
# it goes a third time, and not where it was lost before. Both EVs are bad.
# REQ(req.rtx.other-ev) REQ(req.loss.explicit) REQ(req.ev.one-loss)
config evs 8 gap 6us

post write 5120 bytes id 1
> WRITE FIRST psn 100
+6us > WRITE MIDDLE psn 101 ev B
+6us > WRITE MIDDLE psn 102
ignore PROBE
< SACK cack 100 map 0b10 trigger 102
+6us > WRITE MIDDLE psn 101 rtx ev C
+6us > WRITE MIDDLE psn 103
< SACK cack 100 map 0b110 trigger 103
+6us > WRITE MIDDLE psn 101 rtx ev !B,C
expect ev B ASSUMED_BAD
expect ev C ASSUMED_BAD
+6us > WRITE LAST psn 104
< SACK cack 104 trigger 104
< ACK msn 1
expect completion id 1 success
