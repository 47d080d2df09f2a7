# The same 3us on two EVs prove nothing: paths differ.
# REQ(req.loss.same-ev) REQ(req.loss.explicit)
config evs 2 gap 3us reorder_min 8us reorder_max 8us

ignore PROBE
post write 3072 bytes id 1
> WRITE FIRST psn 100 ev A
+3us > WRITE MIDDLE psn 101 ev !A
+1us < SACK cack 99 map 0b10 trigger 101
+2us > WRITE LAST psn 102
expect ev A GOOD
+9us < SACK cack 102 trigger 102
< ACK msn 1
expect completion id 1 success
