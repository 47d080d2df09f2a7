# What is trimmed on the way goes again at once three times, since each takes another path; after
# that it waits, for a round trip: the queue is empty then, and the window waits for this packet.
# REQ(req.loss.nack) REQ(req.loss.nack-wait)
config evs 8 tail_probe 50us

post write 8 bytes id 1
> WRITE ONLY psn 100
ignore PROBE
+5us < NACK psn 100 reason trimmed
> WRITE ONLY psn 100 rtx
+5us < NACK psn 100 reason trimmed
> WRITE ONLY psn 100 rtx
+5us < NACK psn 100 reason trimmed
> WRITE ONLY psn 100 rtx
+5us < NACK psn 100 reason trimmed
+20us..100us > WRITE ONLY psn 100 rtx
< SACK cack 100
< ACK msn 1
expect completion id 1 success
expect stat tx_retransmits 4
