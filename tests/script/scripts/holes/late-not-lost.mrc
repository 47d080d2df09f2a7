# A packet held to be lost turns up before it could go again: the SACK that says so takes it off the list,
# nothing goes twice. REQ(req.loss.accumulate) REQ(req.rtx.selective)
config evs 8 gap 6us

post write 3072 bytes id 1
> WRITE FIRST psn 100
+6us > WRITE MIDDLE psn 101
+6us > WRITE LAST psn 102
ignore PROBE
room none
+1us < SACK cack 100 map 0b10 trigger 102
expect info lost_pending 1
+1us < SACK cack 102 trigger 101
expect info lost_pending 0
room all
expect nothing for 100us
< ACK msn 1
expect completion id 1 success
expect stat tx_retransmits 0
