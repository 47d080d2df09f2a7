# The peer stops for 20ms and then answers plane after plane: first what came over plane 1. What still
# waits for it on plane 0 is no loss: only a report from plane 0 may say so. Each plane is asked once.
# REQ(req.ev.endpoint) REQ(req.ev.forward-evidence)
config planes 2 evs 8 gap 2us

post write 8 bytes id 1
> WRITE ONLY psn 100 plane 0
+10us < SACK cack 100                                   # so long an answer takes
< ACK msn 1
expect completion id 1 success
post write 8 bytes id 2..5
> WRITE ONLY psn 101 plane 1 ev A
+2us > WRITE ONLY psn 102 plane 0 ev B
+2us > WRITE ONLY psn 103 plane 1
+2us > WRITE ONLY psn 104 plane 0
+2us expect nothing
+20ms < SACK cack 101 map 0b10 trigger 103              # 102 is missing, says plane 1
> PROBE plane 0 probe P
> PROBE plane 1
expect nothing for 10us
expect ev B GOOD
< SACK cack 104 trigger 104                             # it was not
< ACK msn 5
expect completion id 2..5 success
expect info evs_good 8
expect stat tx_retransmits 0
