# The peer stops, and what it could not hold is lost: plane 0 itself says that 102 is missing. It goes
# again, and its EV is not the cause. REQ(req.ev.endpoint)
config planes 2 evs 8 gap 2us

post write 8 bytes id 1
> WRITE ONLY psn 100 plane 0
+10us < SACK cack 100
< ACK msn 1
expect completion id 1 success
post write 8 bytes id 2..7
> WRITE ONLY psn 101 plane 1
+2us > WRITE ONLY psn 102 plane 0 ev B
+2us > WRITE ONLY psn 103 plane 1
+2us > WRITE ONLY psn 104 plane 0
+2us > WRITE ONLY psn 105 plane 1
+2us > WRITE ONLY psn 106 plane 0
ignore PROBE
+20ms < SACK cack 101 map 0b10 trigger 103
expect nothing for 5us
< SACK cack 101 map 0b11110 trigger 106
> WRITE ONLY psn 102 rtx ev !B
expect ev B GOOD
expect no_event
< SACK cack 106 trigger 102
< ACK msn 7
expect completion id 2..7 success
