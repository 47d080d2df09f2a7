# SACKs 1 and 2 are lost on the way. The third says everything that they said: nothing is sent again,
# nothing is held against any EV.
# REQ(req.loss.accumulate) REQ(req.ev.forward-evidence)
config evs 4 gap 2us

post write 8192 bytes id 1
> WRITE FIRST psn 100
+2us > WRITE MIDDLE psn 101..106
+2us > WRITE LAST psn 107
+30us < SACK cack 107
expect nothing
expect info evs_good 4
< ACK msn 1
expect completion id 1 success
