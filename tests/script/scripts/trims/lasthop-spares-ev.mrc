# A trim at the last hop says nothing about the path: the packet goes again, the EV keeps its state.
# REQ(req.ev.last-hop-trim)
config evs 4

post write 1024 bytes id 1
> WRITE ONLY psn 100 ev A
+5us < NACK psn 100 reason trimmed_lasthop
> WRITE ONLY psn 100 rtx ev !A
expect ev A GOOD
expect stat evs_skipped 0
+10us < SACK cack 100
< ACK msn 1
expect completion id 1 success
