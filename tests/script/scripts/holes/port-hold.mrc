# A port of the fabric may hold a packet for 40us before it trims or drops. So long a hole must last,
# though all round trips so far were alike: 22us are not enough, 44us are. Four
# round trips, which a packet has on an EV of which nothing was heard, are shorter.
# REQ(req.loss.explicit)
config evs 8 gap 22us reorder_min 5us reorder_max 100us port_hold 40us

post write 8 bytes id 1
> WRITE ONLY psn 100
+8us < SACK cack 100
< ACK msn 1
expect completion id 1 success
+14us post write 3072 bytes id 2
> WRITE FIRST psn 101 ev A
ignore PROBE
+22us > WRITE MIDDLE psn 102
+8us < SACK cack 100 map 0b10 trigger 102
+14us > WRITE LAST psn 103
expect ev A GOOD
+8us < SACK cack 100 map 0b110 trigger 103
+14us > WRITE FIRST psn 101 rtx ev !A
expect ev A ASSUMED_BAD
< SACK cack 103 trigger 101
< ACK msn 2
expect completion id 2 success
