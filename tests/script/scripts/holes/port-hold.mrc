# A port of the fabric may hold a packet for 20us before it trims or drops. So long a hole must last,
# though all round trips so far were alike: 12us are not enough, 24us are.
# REQ(req.loss.explicit)
config evs 8 gap 12us reorder_min 5us reorder_max 100us port_hold 20us

post write 8 bytes id 1
> WRITE ONLY psn 100
+8us < SACK cack 100
< ACK msn 1
expect completion id 1 success
+4us post write 3072 bytes id 2
> WRITE FIRST psn 101 ev A
ignore PROBE
+12us > WRITE MIDDLE psn 102
+8us < SACK cack 100 map 0b10 trigger 102
+4us > WRITE LAST psn 103
expect ev A GOOD
+8us < SACK cack 100 map 0b110 trigger 103
+4us > WRITE FIRST psn 101 rtx ev !A
expect ev A ASSUMED_BAD
< SACK cack 103 trigger 101
< ACK msn 2
expect completion id 2 success
