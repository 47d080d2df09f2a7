# Who sends learns its return paths from its own data: the SACK proved an EV of plane 0, and SACKs and
# ACKs for what comes in on plane 0 take it. REQ(req.reverse.from-sacks) REQ(req.reverse.per-plane)
config planes 2 evs 16

room 0
post write 8 bytes id 1
> WRITE ONLY psn 100 plane 0 ev A
+10us < SACK cack 100
< ACK msn 1
expect completion id 1 success
< WRITE ONLY psn 100 msn 0 len 8 ackreq plane 0
> SACK plane 0 over A
> ACK plane 0 ev A
< WRITE ONLY psn 101 msn 1 len 8 ackreq plane 0
> SACK plane 0 over A
> ACK plane 0 ev A
