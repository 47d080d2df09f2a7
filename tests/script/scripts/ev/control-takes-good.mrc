# Control packets use EVs that are good as far as we know, on the plane on which their cause came.
# REQ(req.reverse.per-plane)
config planes 2 evs 4

room 0
post write 8 bytes id 1
> WRITE ONLY psn 100 plane 0 ev A
< SACK cack 100 mark always_skip
< ACK msn 1
expect completion id 1 success
< WRITE ONLY psn 100 msn 0 len 8 ackreq plane 0
> SACK plane 0 over !A
> ACK plane 0 ev !A
< WRITE ONLY psn 101 msn 1 len 8 ackreq plane 0
> SACK plane 0 over !A
> ACK plane 0 ev !A
< WRITE ONLY psn 102 msn 2 len 8 ackreq plane 1
> SACK plane 1
> ACK plane 1
