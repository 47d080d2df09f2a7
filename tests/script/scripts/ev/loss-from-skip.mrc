# SKIP -> ASSUMED_BAD: one packet on the EV came marked, the other, sent on it before, was lost.
# REQ(req.ev.one-loss) REQ(req.ev.state-machine)
config evs 4 active 1 gap 6us

post write 3072 bytes id 1
> WRITE FIRST psn 100 ev A
+6us > WRITE MIDDLE psn 101 ev A
< SACK cack 99 map 0b10 trigger 101 mark none ts 9999      # nobody knows its trigger: no proof, no mark
expect ev A GOOD
+6us > WRITE LAST psn 102 ev A
+1us < SACK cack 99 map 0b110 trigger 102 mark skip_once
+5us > WRITE FIRST psn 100 rtx ev !A
expect ev A ASSUMED_BAD
expect event ev A ASSUMED_BAD by loss
< SACK cack 102 trigger 100
< ACK msn 1
expect completion id 1 success
