# GOOD -> ASSUMED_BAD: one packet lost without notice is enough, and it is not used again while it is
# bad. REQ(req.ev.one-loss) REQ(req.ev.events)
config evs 4 gap 6us

ignore PROBE
post write 2048 bytes id 1
> WRITE FIRST psn 100 ev A
+6us > WRITE LAST psn 101
+10us < SACK cack 99 map 0b10 trigger 101
> WRITE FIRST psn 100 rtx ev !A
expect ev A ASSUMED_BAD
expect event ev A ASSUMED_BAD by loss
+10us < SACK cack 101 trigger 100
< ACK msn 1
expect completion id 1 success
post write 12288 bytes id 2
> WRITE FIRST psn 102 ev !A
+6us > WRITE MIDDLE psn 103..112 ev !A
+6us > WRITE LAST psn 113 ev !A
< ACK msn 2
expect completion id 2 success
expect stat evs_retired 1
