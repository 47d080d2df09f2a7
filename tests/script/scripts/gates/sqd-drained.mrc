# The event of a QP in SQD follows the last completion of what had begun, not its last packet; a QP
# with nothing to finish has drained at once, and one that is back in RTS is not asked any more.
# REQ(req.sqd.drained)
config evs 8 gap 1us

state SQD
expect drained
state RTS
post write 3000 bytes id 1
> WRITE FIRST psn 100
state SQD
+1us > WRITE MIDDLE psn 101
+1us > WRITE LAST psn 102
+10us < SACK cack 102
expect nothing for 20us
state RTS
< ACK msn 1
expect completion id 1 success
expect nothing for 20us
post write 8 bytes id 2
> WRITE ONLY psn 103
state SQD
expect nothing for 10us
< ACK msn 2
expect completion id 2 success
expect drained
state SQD
expect drained
