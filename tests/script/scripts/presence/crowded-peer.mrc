# The peer says (a window penalty) that it throws packets away. A loss then is resent at once and no EV
# is the cause. REQ(req.ev.overloaded)
config evs 8 gap 6us

post write 3072 bytes id 1
> WRITE FIRST psn 100
+6us > WRITE MIDDLE psn 101 ev B
+6us > WRITE LAST psn 102
ignore PROBE
+1us < SACK cack 100 map 0b10 trigger 102 pen 64
+5us > WRITE MIDDLE psn 101 rtx ev !B
expect ev B GOOD
expect no_event
< SACK cack 102 trigger 101 pen 64
< ACK msn 1
expect completion id 1 success
