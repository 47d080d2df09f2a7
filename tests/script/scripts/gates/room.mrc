# Data packets leave only on planes with room; control packets do not wait for it. The EV is chosen
# when the packet leaves. REQ(req.spray.port-room) REQ(req.spray.last-moment)
config planes 2 evs 4

room none
post write 4096 bytes id 1
< WRITE ONLY psn 100 len 8 ackreq
> SACK cack 100
> ACK msn 1
expect nothing for 10us
room 1
> WRITE FIRST psn 100 plane 1
> WRITE MIDDLE psn 101..102 plane 1
> WRITE LAST psn 103 plane 1
< ACK msn 1
expect completion id 1 success
