# SQD: the message that has begun is finished, the next does not begin; back in RTS it does.
# When all that had begun is complete, an event says so, once.
# REQ(req.sqd) REQ(req.sqd.drained) REQ(api.qp.modify.order)
config evs 8 gap 1us

post write 3000 bytes id 1
post write 8 bytes id 2
> WRITE FIRST psn 100
state SQD
+1us > WRITE MIDDLE psn 101
+1us > WRITE LAST psn 102
expect nothing for 100us
+10us < SACK cack 102
< ACK msn 1
expect completion id 1 success
expect drained
post write 8 bytes id 3
expect nothing for 100us
state RTS
> WRITE ONLY psn 103
+1us > WRITE ONLY psn 104
< ACK msn 3
expect completion id 2 success
expect completion id 3 success
expect nothing for 100us
