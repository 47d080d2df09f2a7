# How late a SACK comes proves nothing; what counts is when its trigger was sent. This one comes after
# 200us, but its trigger left 1us after the packet that it reports missing.
# REQ(req.loss.explicit)
config evs 4 gap 1us

post write 2048 bytes id 1
> WRITE FIRST psn 100 ev A
+1us > WRITE LAST psn 101
+200us < SACK cack 99 map 0b10 trigger 101
expect nothing for 100us
expect ev A GOOD
< SACK cack 101 trigger 100
< ACK msn 1
expect completion id 1 success
