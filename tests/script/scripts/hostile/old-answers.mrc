# Answers that come twice, or long after, change nothing.
# REQ(req.complete.once) REQ(req.loss.accumulate)
config evs 4

post write 8 bytes id 1..2
> WRITE ONLY psn 100..101
< SACK cack 101
< ACK msn 2
expect completion id 1..2 success
+1s < ACK msn 2
< ACK msn 1
< SACK cack 100
< SACK cack 99
< SACK cack 90
expect nothing for 1s
expect info evs_good 4
