# What is trimmed at the last hop a second time waits before it goes again, and twice as long the third time.
# REQ(req.loss.nack) REQ(req.loss.nack-wait)
config evs 8 tail_probe 50us

post write 8 bytes id 1
> WRITE ONLY psn 100
ignore PROBE
+5us < NACK psn 100 reason trimmed_lasthop
> WRITE ONLY psn 100 rtx
+5us < NACK psn 100 reason trimmed_lasthop
+40us..200us > WRITE ONLY psn 100 rtx
+5us < NACK psn 100 reason trimmed_lasthop
+80us..400us > WRITE ONLY psn 100 rtx
< SACK cack 100
< ACK msn 1
expect completion id 1 success
expect stat tx_retransmits 3
