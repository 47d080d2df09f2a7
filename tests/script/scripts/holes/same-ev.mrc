# A path keeps its order, so a later packet of the same EV proves a loss sooner: with a reorder window
# of 8us a quarter of it is enough.
# REQ(req.loss.same-ev)
config evs 1 gap 3us reorder_min 8us reorder_max 8us

ignore PROBE
post write 3072 bytes id 1
> WRITE FIRST psn 100
+3us > WRITE MIDDLE psn 101
+1us < SACK cack 99 map 0b10 trigger 101
+2us > WRITE FIRST psn 100 rtx
+3us > WRITE LAST psn 102
+9us < SACK cack 102
< ACK msn 1
expect completion id 1 success
