# Our PSNs wrap behind 2^24 - 1, in the middle of a message and in the middle of a hole.
# REQ(req.psn.serial) REQ(wire.seth.cack)
config evs 8 gap 6us psn 16777214

post write 5120 bytes id 1
> WRITE FIRST psn 16777214
+6us > WRITE MIDDLE psn 16777215 ev B
+6us > WRITE MIDDLE psn 0..1
+6us > WRITE LAST psn 2
+10us < SACK cack 16777214 map 0b1110 trigger 2
> WRITE MIDDLE psn 16777215 rtx ev !B at 1024
+10us < SACK cack 2 trigger 16777215
< ACK msn 1
expect completion id 1 success
